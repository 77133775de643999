#include "runner/acp/message.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using Kind = Message::Kind;

TEST(MessageTest, RequestsHaveAnIdOfAnyKind) {
  for (const Json& id : {Json(7), Json("seven"), Json(nullptr), Json(-1), Json(1.5)}) {
    const auto message = ParseMessage(FormatRequest(id, "session/new", {{"cwd", "/src"}}));
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(message->kind, Kind::kRequest);
    EXPECT_EQ(message->id, id);
    EXPECT_EQ(message->method, "session/new");
    EXPECT_EQ(message->params, (Json{{"cwd", "/src"}}));
  }
}

TEST(MessageTest, NotificationsHaveNone) {
  const auto message = ParseMessage(FormatNotification("session/cancel", {{"sessionId", "s"}}));
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->kind, Kind::kNotification);
  EXPECT_EQ(message->params, (Json{{"sessionId", "s"}}));
}

TEST(MessageTest, ParamsThatAreNoneAreAnEmptyObject) {
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

TEST(MessageTest, NoResultIsNull) {
  for (const char* line :
       {R"({"jsonrpc":"2.0","id":1})", R"({"id":1})", R"({"id":1,"error":null})",
        R"({"jsonrpc":"2.0","id":1,"_meta":{}})", R"({"id":1,"result":null,"error":null})"}) {
    const auto message = ParseMessage(line);
    ASSERT_TRUE(message.has_value()) << line;
    EXPECT_EQ(message->kind, Kind::kResponse) << line;
    EXPECT_TRUE(message->result.is_null() && !message->error.has_value()) << line;
  }
}

TEST(MessageTest, AnErrorOfAnyKindIsOne) {
  for (const auto& [error, text] : {std::pair(R"("no")", "no"), std::pair("7", "7"),
                                    std::pair("false", "false"), std::pair("[]", "[]")}) {
    const auto message = ParseMessage(absl::StrCat(R"({"id":1,"error":)", error, "}"));
    ASSERT_TRUE(message.has_value() && message->error.has_value()) << error;
    EXPECT_EQ(message->error->message, text);
  }
}

TEST(MessageTest, ErrorsMayBeBare) {
  const auto message = ParseMessage(R"({"id":1,"error":{"code":"x","message":3}})");
  ASSERT_TRUE(message.has_value() && message->error.has_value());
  EXPECT_EQ(message->error->code, kInternalError);
  EXPECT_EQ(message->error->message, "");
}

TEST(MessageTest, JsonrpcMayBeLeftOutAndMoreMayBeThere) {
  EXPECT_TRUE(ParseMessage(R"( {"id":1,"method":"m","_more":{"a":[1]}} )").has_value());
}

TEST(MessageTest, EverythingElseIsNoMessage) {
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
           std::string(R"({"id":1,"method":"m"}{})"),
           std::string("{\"id\":1,\"method\":\"\xff\xfe\"}"),
           absl::StrCat(R"({"id":1,"method":"m","params":)", std::string(1'000'000, '['), "}"),
       }) {
    EXPECT_FALSE(ParseMessage(line).has_value()) << line.substr(0, 80);
  }
}

TEST(MessageTest, IsOneLineWhateverItHolds) {
  const std::string line = FormatNotification("m", {{"text", "a\nb\r\n\xff"}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto message = ParseMessage(line);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->params["text"], "a\nb\r\n\uFFFD");
}

}  // namespace
}  // namespace callslip::runner
