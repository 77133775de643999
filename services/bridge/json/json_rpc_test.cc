#include "bridge/json/json_rpc.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/json_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = Message::Kind;

Message Ping(const std::string& id) {
  return ParseMessage(absl::StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":"ping"})"));
}

TEST(ParseMessageTest, RequestKeepsItsLineAndIdBytes) {
  for (const std::string id : {"0", "\"\"", "9007199254740992", "9007199254740993", "-1", "\"1\"",
                               "\"\\u0041\"", "123456789012345678901234567890"}) {
    const Message message = Ping(id);
    EXPECT_EQ(message.kind, Kind::kRequest) << id;
    EXPECT_EQ(message.id, id);
    EXPECT_EQ(message.method, "ping");
    EXPECT_THAT(message.line, HasSubstr(id));
  }
}

TEST(ParseMessageTest, IdKeyComparesIdsByValue) {
  EXPECT_EQ(Ping("\"A\"").id_key, Ping("\"\\u0041\"").id_key);
  EXPECT_EQ(Ping("0").id_key, Ping("-0").id_key);
  EXPECT_EQ(Ping("100").id_key, Ping("1e2").id_key);
  EXPECT_EQ(Ping("-7").id_key, Ping("-7.0").id_key);
  EXPECT_NE(Ping("1").id_key, Ping("\"1\"").id_key);
  EXPECT_NE(Ping("9007199254740992").id_key, Ping("9007199254740993").id_key);
}

TEST(ParseMessageTest, ByteOrderMarkAndInvalidUnicodeAreRepaired) {
  const Message message =
      ParseMessage("\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":\"\\ud83d\",\"method\":\"\\uDE00\"}");
  EXPECT_EQ(message.kind, Kind::kRequest);
  EXPECT_EQ(message.line, R"({"jsonrpc":"2.0","id":"\ufffd","method":"\ufffd"})");
  EXPECT_EQ(message.method, "\uFFFD");
  EXPECT_EQ(Ping("\"\u2028\"").id, "\"\\u2028\"");
}

TEST(ParseMessageTest, BadIdsAreInvalidRequests) {
  for (const char* id : {"1.5", "1e-2", "1e99", "null", "true", "{}", "[1]"}) {
    const Message message = Ping(id);
    EXPECT_EQ(message.kind, Kind::kInvalid) << id;
    EXPECT_EQ(message.error_code, kInvalidRequest);
    EXPECT_EQ(message.id, "");
  }
}

TEST(ParseMessageTest, MalformedMessageIsInvalidRequest) {
  for (const char* line :
       {"7", "\"ping\"", "null", "{}", R"({"id":1,"method":"ping"})",
        R"({"jsonrpc":"1.0","id":1,"method":"ping"})", R"({"jsonrpc":2.0,"id":1,"method":"a"})",
        R"({"jsonrpc":"2.0","id":1,"method":7})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"ping"})",
        R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})",
        R"({"jsonrpc":"2.0","id":null,"result":{}})", R"({"jsonrpc":"2.0","result":{}})",
        R"({"jsonrpc":"2.0","id":1.5,"error":{}})"}) {
    const Message message = ParseMessage(line);
    EXPECT_EQ(message.kind, Kind::kInvalid) << line;
    EXPECT_EQ(message.error_code, kInvalidRequest) << line;
    EXPECT_FALSE(message.error.empty()) << line;
  }
}

TEST(ParseMessageTest, BatchIsInvalidRequest) {
  for (const char* line : {"[]", R"( [{"jsonrpc":"2.0","id":1,"method":"ping"}])"}) {
    const Message message = ParseMessage(line);
    EXPECT_EQ(message.error_code, kInvalidRequest);
    EXPECT_THAT(message.error, HasSubstr("1 to 100 messages"));
  }
}

TEST(ParseMessageTest, BadJsonIsParseError) {
  for (const std::string& line : {std::string("{"), std::string("hello"),
                                  std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\"}"),
                                  std::string(100'000, '[') + std::string(100'000, ']')}) {
    EXPECT_EQ(ParseMessage(line).error_code, kParseError) << line.substr(0, 80);
  }
}

TEST(ParseMessageTest, NotificationAndResponseAreRecognized) {
  EXPECT_EQ(ParseMessage(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").kind,
            Kind::kNotification);
  const Message response = ParseMessage(R"({"jsonrpc":"2.0","id":"s-1","result":{}})");
  EXPECT_EQ(response.kind, Kind::kResponse);
  EXPECT_EQ(response.id, "\"s-1\"");
  const Message error = ParseMessage(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700}})");
  EXPECT_EQ(error.kind, Kind::kResponse);
  EXPECT_EQ(error.id, "");
}

TEST(ParseMessageTest, CancelNamesItsRequest) {
  const Message message = ParseMessage(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})");
  EXPECT_EQ(message.cancelled_key, Ping("\"a\"").id_key);
}

TEST(ParseMessageTest, ToolCallProvidesFieldsForTimeoutPolicy) {
  const Message message = ParseMessage(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"observe","task":{},)"
      R"("arguments":{"what":"command_result","correlation_id":"ann_1","wait_ms":1500}}})");
  ASSERT_TRUE(message.tool_call.has_value());
  EXPECT_EQ(message.tool_call->tool, "observe");
  EXPECT_EQ(message.tool_call->what, "command_result");
  EXPECT_EQ(message.tool_call->correlation_id, "ann_1");
  EXPECT_EQ(message.tool_call->wait, absl::Milliseconds(1500));
  EXPECT_TRUE(message.tool_call->as_task);
}

TEST(ParseMessageTest, ToolCallOfUnexpectedShapeIsStillARequest) {
  for (const char* params : {"null", "[]", "{}", R"({"name":7,"arguments":[1]})",
                             R"({"name":"observe","arguments":{"what":{},"wait_ms":"soon"}})"}) {
    const Message message = ParseMessage(
        absl::StrCat(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)", params, "}"));
    EXPECT_EQ(message.kind, Kind::kRequest) << params;
    EXPECT_EQ(message.tool_call->what, "") << params;
    EXPECT_EQ(message.tool_call->wait, std::nullopt) << params;
  }
}

TEST(WithIdTest, ReplacesOrAddsTheId) {
  EXPECT_EQ(WithId(R"({"jsonrpc":"2.0","id":"A","result":{"id":"A"}})", "\"\\u0041\""),
            R"({"jsonrpc":"2.0","id":"\u0041","result":{"id":"A"}})");
  EXPECT_EQ(WithId(R"({"error":{"code":1},"id":null})", "7"), R"({"error":{"code":1},"id":7})");
  EXPECT_EQ(WithId(R"({"error":{"code":1}})", "7"), R"({"id":7,"error":{"code":1}})");
}

TEST(ErrorLineTest, OmitsEmptyFields) {
  EXPECT_EQ(ErrorLine("", -32700, "say \"what\"?"),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"say \"what\"?"}})");
  EXPECT_EQ(ErrorLine("0", -1, "x", "{\"a\":1}"),
            R"({"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"x","data":{"a":1}}})");
}

std::string WithRequestId(const std::string& params) {
  Message message = ParseMessage(
      absl::StrCat(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)", params, "}"));
  AddRequestId(message, [] { return "r"; });
  const JsonScan scan = ScanJson(message.line);
  EXPECT_EQ(scan.error, "") << message.line;
  return std::string(*FindMember(scan.members, "params"));
}

TEST(AddRequestIdTest, IsAddedToInteractWithoutRequestId) {
  EXPECT_EQ(WithRequestId(R"({"name":"interact","arguments":{"action":"click"}})"),
            R"({"name":"interact","arguments":{"request_id":"r","action":"click"}})");
  EXPECT_EQ(WithRequestId(R"({"name":"interact","arguments":{ }})"),
            R"({"name":"interact","arguments":{"request_id":"r" }})");
  EXPECT_EQ(WithRequestId(R"({"name":"interact"})"),
            R"({"arguments":{"request_id":"r"},"name":"interact"})");
}

TEST(AddRequestIdTest, IsAddedToAnalyzeThatSubmitsCommand) {
  EXPECT_EQ(WithRequestId(R"({"name":"analyze","arguments":{"what":"page"}})"),
            R"({"name":"analyze","arguments":{"request_id":"r","what":"page"}})");
  EXPECT_EQ(WithRequestId(R"({"name":"analyze","arguments":{"what":"screenshot"}})"),
            R"({"name":"analyze","arguments":{"request_id":"r","what":"screenshot"}})");
  EXPECT_EQ(
      WithRequestId(R"({"name":"analyze","arguments":{"what":"annotations","wait":true}})"),
      R"({"name":"analyze","arguments":{"request_id":"r","what":"annotations","wait":true}})");
}

TEST(AddRequestIdTest, OtherCallsStayUnchanged) {
  for (const char* params :
       {R"({"name":"interact","arguments":{"request_id":"mine"}})",
        R"({"name":"interact","arguments":{"request_id":7}})",
        R"({"name":"interact","arguments":{"action":"cancel"}})",
        R"({"name":"interact","arguments":[1]})", R"({"name":"interact","arguments":null})",
        R"({"name":"analyze","arguments":{}})",
        R"({"name":"analyze","arguments":{"what":"annotations"}})",
        R"({"name":"analyze","arguments":{"what":"annotations","wait":false}})",
        R"({"name":"observe"})"}) {
    EXPECT_EQ(WithRequestId(params), params);
  }
}

}  // namespace
}  // namespace callslip::bridge
