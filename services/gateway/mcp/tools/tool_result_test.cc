#include "gateway/mcp/tools/tool_result.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/tool_definitions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/json_schema.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kId[] = "corr-1767225600000-0123456789abcdef0123456789abcdef";

v1::Command CommandIn(v1::CommandState state) {
  v1::Command command;
  command.set_command_id(kId);
  command.set_type("get_page");
  command.set_state(state);
  command.mutable_register_time()->set_seconds(1'767'225'600);
  command.mutable_end_time()->set_seconds(1'767'225'601);
  command.set_context(R"({"tab_id":7,"url":"http://page/"})");
  return command;
}

v1::Command Completed(const std::string& result) {
  v1::Command command = CommandIn(v1::COMMAND_STATE_COMPLETED);
  command.set_result(result);
  return command;
}

v1::Command FailedIn(v1::CommandState state) {
  v1::Command command = CommandIn(state);
  command.mutable_error()->set_code("element_not_found");
  command.mutable_error()->set_message("No element matches the selector.");
  command.mutable_error()->set_hint("Look at the page with analyze, then correct the selector.");
  return command;
}

Json AnswerOf(const ToolResult& result) { return std::get<Json>(result.result); }

// The bytes of an answer that a model reads, without the worker's `payload_bytes`; four make a
// token.
size_t BytesBeside(const Json& answer, size_t payload_bytes) {
  size_t bytes = 0;
  for (const Json& each : answer["content"]) {
    bytes += each["type"] == "image" ? 0 : Dump(each).size();
  }
  return bytes + Dump(answer["structuredContent"]).size() - payload_bytes;
}

struct AnswerCase {
  const char* name;
  std::function<ToolResult()> make;
  size_t payload_bytes = 0;
};

absl::Status BadArguments() {
  const Json json = {{"action", "click"}, {std::string(100'000, 'x'), 1}};
  Arguments arguments(json);
  arguments.Text("action");
  return arguments.status();
}

class AnswerTest : public testing::TestWithParam<AnswerCase> {};

TEST_P(AnswerTest, MatchesSchemaAndIsSmall) {
  const Json answer = AnswerOf(GetParam().make());
  ASSERT_TRUE(answer["content"][0]["text"].is_string());
  EXPECT_LE(BytesBeside(answer, GetParam().payload_bytes), 300u * 4);
  ExpectValid(answer["structuredContent"], InteractDefinition()["outputSchema"],
              "structuredContent");
  const std::string status = answer["structuredContent"]["status"];
  const bool fine = status == "queued" || status == "pending" || status == "complete";
  EXPECT_EQ(answer.value("isError", false), !fine);
}

INSTANTIATE_TEST_SUITE_P(
    ToolResultTest, AnswerTest,
    testing::ValuesIn(std::vector<AnswerCase>{
        {"Queued", [] { return QueuedResult(CommandIn(v1::COMMAND_STATE_QUEUED)); }},
        {"PendingQueued", [] { return CommandResult(CommandIn(v1::COMMAND_STATE_QUEUED)); }},
        {"PendingRunning",
         [] {
           v1::Command command = CommandIn(v1::COMMAND_STATE_RUNNING);
           command.mutable_progress()->set_fraction(0.5);
           command.mutable_progress()->set_message("half of it");
           return CommandResult(command);
         }},
        {"Complete", [] { return CommandResult(Completed(R"({"title":"Example"})")); }, 38},
        {"CompleteWithText", [] { return CommandResult(Completed("no JSON")); }, 16},
        {"CompleteWithImage",
         [] {
           return CommandResult(
               Completed(absl::StrCat(R"({"data":{"mime_type":"image/png","base64":")",
                                      std::string(4 << 20, 'A'), R"("}})")));
         }},
        {"CompleteWithLink",
         [] { return CommandResult(Completed(std::string(kMaxInlineResultBytes + 1, '1'))); }},
        {"Failed", [] { return CommandResult(FailedIn(v1::COMMAND_STATE_FAILED)); }},
        {"TimedOut", [] { return CommandResult(FailedIn(v1::COMMAND_STATE_TIMED_OUT)); }},
        {"Expired", [] { return CommandResult(FailedIn(v1::COMMAND_STATE_EXPIRED)); }},
        {"Cancelled", [] { return CommandResult(FailedIn(v1::COMMAND_STATE_CANCELLED)); }},
        {"LateResult",
         [] {
           v1::Command command = FailedIn(v1::COMMAND_STATE_EXPIRED);
           command.set_late_result(std::string(kMaxInlineResultBytes + 1, '1'));
           return CommandResult(command);
         }},
        {"Refused",
         [] {
           return ErrorResult(ErrorWithDetails(absl::StatusCode::kResourceExhausted,
                                               "The queue of the target is full.",
                                               {.reason = "queue_full",
                                                .hint = "Wait for a command to end.",
                                                .retry_after = absl::Seconds(1)}),
                              Executed::kNo, "", kId);
         }},
        {"Unreachable",
         [] { return ErrorResult(absl::UnavailableError("gone"), Executed::kPerhaps); }},
        {"BadArguments", [] { return ErrorResult(BadArguments(), Executed::kNo); }},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ToolResultTest, ScreenshotIsReturnedAsImage) {
  const Json answer = AnswerOf(CommandResult(Completed(
      R"({"success":true,"data":{"mime_type":"image/png","base64":"iVBORw0KGgo=","width":8}})")));
  EXPECT_EQ(answer["content"][1],
            (Json{{"type", "image"}, {"data", "iVBORw0KGgo="}, {"mimeType", "image/png"}}));
  EXPECT_EQ(answer["structuredContent"]["result"],
            (Json{{"mime_type", "image/png"}, {"bytes", 9}, {"width", 8}}));
  EXPECT_THAT(answer["content"][0]["text"].get<std::string>(), Not(HasSubstr("iVBOR")));
}

TEST(ToolResultTest, CompletedAnswerContainsOnlyPageChanges) {
  const std::string page = "clicked e30 button Place order\n+ dialog Thank you";
  const Json data = {
      {"page", page}, {"selector", "e30"}, {"tag", "button"}, {"text", "Place order"}};
  const Json answer = AnswerOf(CommandResult(Completed(Dump({{"success", true}, {"data", data}}))));
  EXPECT_EQ(answer["content"], Json::array({{{"type", "text"}, {"text", page}}}));
  EXPECT_EQ(
      answer["structuredContent"],
      (Json{{"status", "complete"}, {"final", true}, {"result", {{"page", page}}}, {"tab_id", 7}}));
}

TEST(ToolResultTest, TextAndStructureAgree) {
  for (const char* result :
       {R"({"success":true,"data":{"url":"http://page/","title":"t"}})", R"({"a":1})", "[1]",
        R"({"success":true,"data":{"page":"p","tab":8}})", "no JSON", R"({"success":true})",
        R"({"success":true,"data":null})", R"({"success":false,"data":1})"}) {
    const Json answer = AnswerOf(CommandResult(Completed(result)));
    const std::string text = answer["content"][0]["text"];
    Json said = answer["structuredContent"]["result"];
    if (said.is_object() && said.contains("page")) {
      EXPECT_THAT(text, testing::StartsWith("p\n"));
      said.erase("page");
    }
    EXPECT_THAT(text, testing::EndsWith(Dump(said))) << result;
    EXPECT_EQ(text.find("true"), std::string::npos) << text;
    EXPECT_FALSE(answer["structuredContent"].contains("correlation_id"));
  }
}

// A script's value with a member `page` is not a report of the page: it stays complete.
TEST(ToolResultTest, ScriptValueIsNotMistakenForPageReport) {
  v1::Command command = Completed(
      R"({"success":true,"data":{"page":"clicked e5","title":"T","value":3,"url":"http://page/"}})");
  command.set_type("execute_js");
  const Json answer = AnswerOf(CommandResult(command, ""));
  const Json value = {
      {"page", "clicked e5"}, {"title", "T"}, {"value", 3}, {"url", "http://page/"}};
  EXPECT_EQ(answer["structuredContent"]["result"], value);
  EXPECT_THAT(answer["content"][0]["text"].get<std::string>(),
              ::testing::StartsWith("untrusted content of the page:\n"));
  // The report of the page stands beside the value.
  command.set_result(R"({"success":true,"data":{"page":"x"},"page":"+ e1 button Go"})");
  const Json told = AnswerOf(CommandResult(command, ""));
  EXPECT_EQ(told["structuredContent"]["result"]["data"]["page"], "x");
  EXPECT_THAT(told["content"][0]["text"].get<std::string>(),
              ::testing::StartsWith("+ e1 button Go\n"));
}

TEST(ToolResultTest, UrlIsNotRepeated) {
  const auto url_beside = [](const char* result) {
    return AnswerOf(CommandResult(Completed(result)))["structuredContent"].contains("url");
  };
  EXPECT_FALSE(url_beside(R"({"success":true,"data":{"url":"http://page/"}})"));
  EXPECT_FALSE(url_beside(R"({"page":"A page · http://page/"})"));
  EXPECT_TRUE(url_beside(R"({"success":true,"data":{"url":"http://other/"}})"));
  EXPECT_TRUE(url_beside("1"));
}

// If an answer is too long for the bridge's pipe, the bridge names this id.
TEST(ToolResultTest, OnlyVeryLargeImageCarriesCommandId) {
  const auto has_id = [](size_t bytes) {
    const Json image = {{"mime_type", "image/png"}, {"base64", std::string(bytes, 'A')}};
    return AnswerOf(CommandResult(Completed(Dump(image))))["structuredContent"].contains(
        "correlation_id");
  };
  EXPECT_FALSE(has_id(size_t{4} << 20));
  EXPECT_TRUE(has_id(size_t{9} << 20));
}

// Clients refuse a whole answer if one of its images is not valid.
TEST(ToolResultTest, InvalidImageStaysInResult) {
  for (const char* image : {R"({"mime_type":"image/png","base64":"not base64!"})",
                            R"({"mime_type":"image/png","base64":"abc"})",
                            R"({"mime_type":"image/png","base64":"a=bc"})",
                            R"({"mime_type":"image/png\nx","base64":"abcd"})",
                            R"({"mime_type":"text/html","base64":"abcd"})",
                            R"({"mime_type":"image/png","base64":7})"}) {
    const Json answer = AnswerOf(CommandResult(Completed(image)));
    EXPECT_EQ(answer["content"].size(), 1u) << image;
    EXPECT_EQ(answer["structuredContent"]["result"], Json::parse(image));
  }
}

TEST(ToolResultTest, LargeResultIsLinked) {
  const std::string inlined(kMaxInlineResultBytes - 2, 'x');
  EXPECT_EQ(AnswerOf(CommandResult(Completed(Dump(inlined))))["structuredContent"]["result"],
            inlined);

  const std::string result = Dump(std::string(kMaxInlineResultBytes - 1, 'x'));
  const Json answer = AnswerOf(CommandResult(Completed(result)));
  EXPECT_FALSE(answer["structuredContent"].contains("result"));
  EXPECT_EQ(answer["structuredContent"]["result_bytes"], result.size());
  EXPECT_EQ(answer["structuredContent"]["resource"], ResultUri(kId));
  EXPECT_EQ(answer["content"][1], (Json{{"type", "resource_link"},
                                        {"uri", ResultUri(kId)},
                                        {"name", "get_page"},
                                        {"mimeType", "application/json"},
                                        {"size", result.size()}}));
}

TEST(ToolResultTest, LimitAppliesToMembersNextToImage) {
  const Json result = {{"mime_type", "image/png"},
                       {"base64", "abcd"},
                       {"title", std::string(kMaxInlineResultBytes, 'x')}};
  const Json answer = AnswerOf(CommandResult(Completed(Dump(result))));
  EXPECT_FALSE(answer["structuredContent"].contains("result"));
  EXPECT_EQ(answer["content"][1]["type"], "resource_link");
}

TEST(ToolResultTest, LargeLateResultIsNotInlined) {
  v1::Command command = FailedIn(v1::COMMAND_STATE_EXPIRED);
  command.set_late_result("[1]");
  EXPECT_EQ(AnswerOf(CommandResult(command))["structuredContent"]["late_result"], Json({1}));
  command.set_late_result(std::string(kMaxInlineResultBytes + 1, '1'));
  const Json answer = AnswerOf(CommandResult(command))["structuredContent"];
  EXPECT_FALSE(answer.contains("late_result"));
  EXPECT_EQ(answer["late_result_bytes"], kMaxInlineResultBytes + 1);
}

// A worker may report any context.
TEST(ToolResultTest, WorkerContextCannotForgeMembersOfAnswer) {
  Json context = {{"tab_id", 7}, {"url", "http://page/"}};
  std::vector<const char*> names = {"status",         "final",
                                    "correlation_id", "stage",
                                    "created_at",     "progress",
                                    "error",          "message",
                                    "hint",           "result",
                                    "resource",       "result_bytes",
                                    "completed_at",   "expired_at",
                                    "cancelled_at",   "failed_at",
                                    "duration_ms",    "late_result",
                                    "request_id",     "late_result_bytes",
                                    "retry_after_ms", "may_have_executed"};
  for (const char* name : names) context[name] = "forged";
  for (v1::Command command :
       {CommandIn(v1::COMMAND_STATE_RUNNING), Completed("1"), FailedIn(v1::COMMAND_STATE_FAILED),
        FailedIn(v1::COMMAND_STATE_EXPIRED)}) {
    const Json plain = AnswerOf(CommandResult(command))["structuredContent"];
    command.set_context(Dump(context));
    Json answer = AnswerOf(CommandResult(command))["structuredContent"];
    EXPECT_EQ(answer["context"].size(), names.size());
    answer.erase("context");
    EXPECT_EQ(answer, plain);
    ExpectValid(plain, InteractDefinition()["outputSchema"], "structuredContent");
  }
  v1::Command odd = Completed("1");
  odd.set_context(R"({"tab_id":"seven","url":[1]})");
  const Json answer = AnswerOf(CommandResult(odd))["structuredContent"];
  EXPECT_FALSE(answer.contains("tab_id") || answer.contains("url"));
  EXPECT_EQ(answer["context"], (Json{{"tab_id", "seven"}, {"url", {1}}}));
}

// Failures.

absl::Status Refused(absl::StatusCode code, const std::string& reason,
                     std::optional<absl::Duration> retry_after = std::nullopt) {
  return ErrorWithDetails(code, "No.", {.reason = reason, .retry_after = retry_after});
}

TEST(ErrorResultTest, OnlyPermanentErrorsAreFinal) {
  using Code = absl::StatusCode;
  const auto is_final = [](const absl::Status& status, Executed executed) {
    return AnswerOf(ErrorResult(status, executed))["structuredContent"]["final"];
  };
  for (const Executed executed : {Executed::kNo, Executed::kAsked}) {
    EXPECT_EQ(is_final(Refused(Code::kNotFound, "unknown_command"), executed), true);
    EXPECT_EQ(is_final(Refused(Code::kInvalidArgument, "invalid_arguments"), executed), true);
    EXPECT_EQ(is_final(Refused(Code::kFailedPrecondition, "already_ended"), executed), true);
    EXPECT_EQ(
        is_final(Refused(Code::kResourceExhausted, "too_many_waits", absl::Seconds(1)), executed),
        false);
    EXPECT_EQ(is_final(Refused(Code::kUnavailable, "storage_unavailable"), executed), false);
    EXPECT_EQ(is_final(Refused(Code::kUnavailable, "draining"), executed), false);
    EXPECT_EQ(is_final(Refused(Code::kCancelled, "draining"), executed), false);
    EXPECT_EQ(is_final(absl::CancelledError("CANCELLED"), executed), false);
  }
  EXPECT_EQ(is_final(absl::UnavailableError("gone"), Executed::kPerhaps), false);
}

TEST(ErrorResultTest, ErrorOfQueryDoesNotClaimExecution) {
  const Json answer = AnswerOf(ErrorResult(Refused(absl::StatusCode::kNotFound, "unknown_command"),
                                           Executed::kAsked, "", kId));
  EXPECT_EQ(answer["structuredContent"]["may_have_executed"], true);
  const std::string text = answer["content"][0]["text"];
  EXPECT_THAT(text, Not(HasSubstr("It may have been executed.")));
  EXPECT_THAT(text, HasSubstr("This says nothing of what the command did."));
}

TEST(ErrorResultTest, ConnectionErrorsAreReworded) {
  for (const absl::Status& status :
       {absl::CancelledError("CANCELLED"), absl::DeadlineExceededError("Deadline Exceeded"),
        absl::UnavailableError("failed to connect to all addresses; Socket closed")}) {
    const Json answer = AnswerOf(ErrorResult(status, Executed::kNo));
    EXPECT_EQ(answer["structuredContent"]["error"], "tracker_unreachable");
    EXPECT_THAT(Dump(answer), Not(HasSubstr(std::string(status.message()))));
  }
}

TEST(ErrorResultTest, RepeatableWaitIsPending) {
  const auto status_of = [](const absl::Status& status) {
    return AnswerOf(VainWaitResult(status, Executed::kAsked))["structuredContent"]["status"];
  };
  EXPECT_EQ(status_of(absl::UnavailableError("gone")), "pending");
  EXPECT_EQ(status_of(Refused(absl::StatusCode::kNotFound, "unknown_command")), "error");
}

}  // namespace
}  // namespace callslip::gateway
