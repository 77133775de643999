#include "runner/acp/message.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using Kind = Message::Kind;

TEST(MessageTest, RequestIdCanBeNumberStringOrNull) {
  for (const Json& id : {Json(7), Json("seven"), Json(nullptr), Json(-1), Json(1.5)}) {
    const auto message = ParseMessage(FormatRequest(id, "session/new", {{"cwd", "/src"}}));
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(message->kind, Kind::kRequest);
    EXPECT_EQ(message->id, id);
    EXPECT_EQ(message->method, "session/new");
    EXPECT_EQ(message->params, (Json{{"cwd", "/src"}}));
  }
}

TEST(MessageTest, NotificationHasNoId) {
  const auto message = ParseMessage(FormatNotification("session/cancel", {{"sessionId", "s"}}));
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->kind, Kind::kNotification);
  EXPECT_EQ(message->params, (Json{{"sessionId", "s"}}));
}

TEST(MessageTest, MissingOrInvalidParamsAreAnEmptyObject) {
  for (const char* params : {"", R"(,"params":null)", R"(,"params":[1])", R"(,"params":"x")"}) {
    const auto message = ParseMessage(absl::StrCat(R"({"method":"m")", params, "}"));
    ASSERT_TRUE(message.has_value()) << params;
    EXPECT_EQ(message->params, Json::object());
  }
}

TEST(MessageTest, ResponsesHaveAResultOrAnError) {
  const auto result = ParseMessage(FormatResult(7, {{"stopReason", "end_turn"}}));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->kind, Kind::kResponse);
  EXPECT_EQ(result->id, 7);
  EXPECT_EQ(result->result, (Json{{"stopReason", "end_turn"}}));
  EXPECT_FALSE(result->error.has_value());

  const auto error = ParseMessage(FormatError(8, {kAuthRequired, "log in", {{"how", "so"}}}));
  ASSERT_TRUE(error.has_value() && error->error.has_value());
  EXPECT_EQ(error->error->code, kAuthRequired);
  EXPECT_EQ(error->error->message, "log in");
  EXPECT_EQ(error->error->data, (Json{{"how", "so"}}));
}

TEST(MessageTest, NullIsAResult) {
  const auto message = ParseMessage(R"({"id":1,"result":null})");
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->kind, Kind::kResponse);
}

TEST(MessageTest, MissingResultIsNull) {
  for (const char* line :
       {R"({"jsonrpc":"2.0","id":1})", R"({"id":1})", R"({"id":1,"error":null})",
        R"({"jsonrpc":"2.0","id":1,"_meta":{}})", R"({"id":1,"result":null,"error":null})"}) {
    const auto message = ParseMessage(line);
    ASSERT_TRUE(message.has_value()) << line;
    EXPECT_EQ(message->kind, Kind::kResponse) << line;
    EXPECT_TRUE(message->result.is_null() && !message->error.has_value()) << line;
  }
}

TEST(MessageTest, ErrorOfAnyTypeIsAccepted) {
  for (const auto& [error, text] : {std::pair(R"("no")", "no"), std::pair("7", "7"),
                                    std::pair("false", "false"), std::pair("[]", "[]")}) {
    const auto message = ParseMessage(absl::StrCat(R"({"id":1,"error":)", error, "}"));
    ASSERT_TRUE(message.has_value() && message->error.has_value()) << error;
    EXPECT_EQ(message->error->message, text);
  }
}

TEST(MessageTest, ErrorWithInvalidMembersGetsDefaults) {
  const auto message = ParseMessage(R"({"id":1,"error":{"code":"x","message":3}})");
  ASSERT_TRUE(message.has_value() && message->error.has_value());
  EXPECT_EQ(message->error->code, kInternalError);
  EXPECT_EQ(message->error->message, "");
}

TEST(MessageTest, JsonrpcMemberIsOptionalAndExtraMembersAreAllowed) {
  EXPECT_TRUE(ParseMessage(R"( {"id":1,"method":"m","_more":{"a":[1]}} )").has_value());
}

TEST(MessageTest, InvalidLinesAreNotMessages) {
  for (const std::string& line : {
           std::string("Loading..."),
           std::string("\x1b[32mready\x1b[0m"),
           std::string("42"),
           std::string("true"),
           std::string("null"),
           std::string(R"("text")"),
           std::string("[]"),
           std::string(R"([{"id":1,"method":"m"}])"),
           std::string("{"),
           std::string("{}"),
           std::string("{level: info}"),
           std::string(R"({"level":"info"})"),
           std::string(R"({"id":1,"level":"info"})"),
           std::string(R"({"jsonrpc":"2.0"})"),
           std::string(R"({"id":{},"method":"m"})"),
           std::string(R"({"id":1,"method":7})"),
           std::string(R"({"result":1})"),
           std::string(R"({"method":"m","id":)"),
           std::string(R"({"level":"info","id":1)"),
           std::string(R"({"method":"m","params":{"id":1})"),
           std::string(R"({"method":"m","params":1e999,"id":1})"),
       }) {
    EXPECT_FALSE(ParseMessage(line).has_value()) << line.substr(0, 80);
  }
}

TEST(MessageTest, IsAlwaysFormattedAsOneLine) {
  const std::string line = FormatNotification("m", {{"text", "a\nb\r\n\xff\u2028\u2029"}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(line, testing::HasSubstr(R"(\u2028\u2029)"));
  const auto message = ParseMessage(line);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->params["text"], "a\nb\r\n\uFFFD\u2028\u2029");
}

TEST(MessageTest, InvalidUnicodeIsReplaced) {
  for (const char* text : {"\\ud83d", "\\uDE00", "\xF0\x9F\x98"}) {
    const auto message = ParseMessage(
        absl::StrCat("\xEF\xBB\xBF", R"({"id":1,"method":"m","params":{"text":")", text, R"("}})"));
    ASSERT_TRUE(message.has_value()) << text;
    EXPECT_EQ(message->params["text"], "\uFFFD") << text;
  }
  // Both halves of one emoji.
  const auto message = ParseMessage(R"({"method":"m","params":{"text":"\ud83d\ude00"}})");
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->params["text"], "\U0001F600");
}

TEST(MessageTest, NumberWithoutFractionIsAnInteger) {
  const auto message =
      ParseMessage(R"({"id":7.0,"method":"m","params":{"line":12.0,"most":5e3,"other":1.5}})");
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(Dump(message->id), "7");
  EXPECT_EQ(Dump(message->params), R"({"line":12,"most":5000,"other":1.5})");
}

TEST(MessageTest, IdBeforeSyntaxErrorIsRead) {
  for (const std::string& line :
       {std::string(R"({"id":1,"method":"m"}{})"), std::string(R"({"id":1,"method":"m)"),
        std::string(R"({"id":1,"method":"m","params":{"a":1e999}})"),
        std::string(R"({"id":1,"method":"m","params":{"a":NaN}})"),
        absl::StrCat(R"({"id":1,"method":"m","params":)", std::string(1'000'000, '['), "}")}) {
    const auto message = ParseMessage(line);
    ASSERT_TRUE(message.has_value()) << line.substr(0, 80);
    EXPECT_EQ(message->kind, Kind::kUnreadable) << line.substr(0, 80);
    EXPECT_EQ(message->id, 1);
    EXPECT_TRUE(message->error.has_value());
  }
}

TEST(MessageTest, IdIsReadFromTooLargeMessage) {
  const std::string deep = absl::StrCat(std::string(100, '['), std::string(100, ']'));
  const std::string long_list = absl::StrCat(
      "[0", std::string(1'000'000, ' '),
      [] {
        std::string zeros;
        for (int i = 0; i < 500'000; ++i) zeros += ",0";
        return zeros;
      }(),
      "]");
  for (const std::string& large : {deep, long_list}) {
    const auto request = ParseMessage(
        absl::StrCat(R"({"jsonrpc":"2.0","params":{"a":)", large, R"(},"method":"m","id":"x"})"));
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->kind, Kind::kUnreadable);
    EXPECT_EQ(request->id, "x");
    EXPECT_EQ(request->error->code, kParseError);
    const auto response = ParseMessage(absl::StrCat(R"({"id":7,"result":)", large, "}"));
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->kind, Kind::kResponse);
    EXPECT_EQ(response->id, 7);
    EXPECT_TRUE(response->error.has_value());
    EXPECT_FALSE(ParseMessage(absl::StrCat(R"({"method":"m","params":)", large, "}")).has_value());
  }
}

}  // namespace
}  // namespace callslip::runner
