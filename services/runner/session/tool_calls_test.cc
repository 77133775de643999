#include "runner/session/tool_calls.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

PermissionQuestion QuestionOf(const std::string& id) {
  return {.tool_call = {.id = id}, .details = Json{{"toolCallId", id}}};
}

TEST(ToolCallsTest, QuestionIsCompletedFromEarlierReports) {
  ToolCalls calls;
  calls.Take(ToolCall{
      .id = "c", .title = "rm -rf /", .kind = "execute", .raw_input = Json{{"command", "rm"}}});
  calls.Take(ToolCallChange{.id = "c", .locations = Json::array({1})});
  PermissionQuestion question = QuestionOf("c");
  calls.Complete(question);
  EXPECT_EQ(question.tool_call.title, "rm -rf /");
  EXPECT_EQ(question.tool_call.kind, "execute");
  EXPECT_EQ(question.details,
            Json::parse(R"({"toolCallId": "c", "title": "rm -rf /", "kind": "execute",
                            "rawInput": {"command": "rm"}, "locations": [1]})"));
}

TEST(ToolCallsTest, ValuesOfQuestionTakePrecedence) {
  ToolCalls calls;
  calls.Take(ToolCall{.id = "c", .title = "Read", .kind = "read"});
  PermissionQuestion question = QuestionOf("c");
  question.tool_call.kind = "execute";
  calls.Complete(question);
  EXPECT_EQ(question.tool_call.kind, "execute");
  EXPECT_EQ(question.tool_call.title, "Read");
}

TEST(ToolCallsTest, UnknownCallHasNoKind) {
  ToolCalls calls;
  calls.Take(ToolCall{.id = "c", .title = "A call without a kind is another one"});
  PermissionQuestion known = QuestionOf("c");
  calls.Complete(known);
  EXPECT_EQ(known.tool_call.kind, "other");
  PermissionQuestion unknown = QuestionOf("d");
  calls.Complete(unknown);
  EXPECT_EQ(unknown.tool_call.kind, std::nullopt);
  EXPECT_EQ(unknown.details, Json::parse(R"({"toolCallId": "d"})"));
}

TEST(ToolCallsTest, EndedCallIsForgotten) {
  for (const char* status : {"completed", "failed", "cancelled", "canceled", "done"}) {
    ToolCalls calls;
    calls.Take(ToolCall{.id = "c", .title = "Read", .kind = "read"});
    calls.Take(ToolCall{.id = "d", .title = "Edit", .kind = "edit", .status = "pending"});
    calls.Take(ToolCallChange{.id = "c", .status = status});
    // A later change does not bring the call back.
    calls.Take(ToolCallChange{.id = "c", .title = "Read", .kind = "read"});
    PermissionQuestion ended = QuestionOf("c");
    calls.Complete(ended);
    EXPECT_EQ(ended.tool_call.kind, std::nullopt) << status;
    EXPECT_EQ(ended.tool_call.title, std::nullopt) << status;
    PermissionQuestion over = QuestionOf("d");
    over.tool_call.status = status;
    calls.Complete(over);
    EXPECT_EQ(over.tool_call.kind, std::nullopt) << status;
    PermissionQuestion open = QuestionOf("d");
    calls.Complete(open);
    EXPECT_EQ(open.tool_call.kind, "edit") << status;
    // A call that is first reported after its end is not kept either.
    calls.Take(ToolCall{.id = "e", .kind = "read", .status = status});
    PermissionQuestion whole = QuestionOf("e");
    calls.Complete(whole);
    EXPECT_EQ(whole.tool_call.kind, std::nullopt) << status;
  }
}

TEST(ToolCallsTest, ChangeAloneStartsNoCall) {
  ToolCalls calls;
  calls.Take(ToolCallChange{.id = "c", .title = "Read", .kind = "read"});
  PermissionQuestion question = QuestionOf("c");
  calls.Complete(question);
  EXPECT_EQ(question.tool_call.kind, std::nullopt);
}

TEST(ToolCallsTest, ReusedIdStartsAnotherCall) {
  ToolCalls calls;
  calls.Take(
      ToolCall{.id = "c", .title = "Read", .kind = "read", .raw_input = Json{{"path", "a"}}});
  calls.Take(ToolCall{.id = "c", .title = "Run"});
  PermissionQuestion question = QuestionOf("c");
  calls.Complete(question);
  EXPECT_EQ(question.tool_call.kind, "other");
  EXPECT_EQ(question.details,
            Json::parse(R"({"toolCallId": "c", "title": "Run", "kind": "other"})"));
}

TEST(ToolCallsTest, NumberAndSizeOfCallsAreLimited) {
  ToolCalls calls;
  for (size_t i = 0; i <= ToolCalls::kMaxCalls; ++i) {
    calls.Take(ToolCall{.id = absl::StrCat(i), .kind = "edit"});
  }
  PermissionQuestion first = QuestionOf("0");
  calls.Complete(first);
  EXPECT_EQ(first.tool_call.kind, std::nullopt);
  PermissionQuestion last = QuestionOf(absl::StrCat(ToolCalls::kMaxCalls));
  calls.Complete(last);
  EXPECT_EQ(last.tool_call.kind, "edit");

  const std::string large(ToolCalls::kMaxBytes + 1, 'x');
  calls.Take(ToolCall{.id = "l", .kind = "edit", .content = large});
  calls.Take(ToolCall{.id = large, .kind = "edit"});
  PermissionQuestion question = QuestionOf("l");
  calls.Complete(question);
  EXPECT_TRUE(question.tool_call.content.is_null());
  EXPECT_EQ(question.tool_call.kind, "edit");
}

}  // namespace
}  // namespace callslip::runner
