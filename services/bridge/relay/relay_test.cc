#include "bridge/relay/relay.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "bridge/relay/limits.h"
#include "bridge/relay/relay_test_fixture.h"
#include "common/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;

TEST_F(RelayTest, PostsAgentBytesAndReturnsAnswer) {
  StartGateway();
  const std::string line = R"({"id": 9007199254740993 , "method":"ping","jsonrpc":"2.0"})";
  Send(line);
  EXPECT_EQ(ReadLine(), ResultFor("9007199254740993", R"({"method":"ping"})"));
  const httplib::Request request = gateway_->requests().at(0);
  EXPECT_EQ(request.body, line);
  EXPECT_EQ(request.path, "/mcp");
  EXPECT_EQ(request.get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(request.get_header_value("Accept"), "application/json, text/event-stream");
  EXPECT_FALSE(request.has_header("MCP-Protocol-Version"));
  EXPECT_FALSE(request.has_header("Mcp-Session-Id"));
  EXPECT_FALSE(request.has_header("Authorization"));
}

TEST_F(RelayTest, NotificationsAreForwardedAndNotAnswered) {
  StartGateway();
  Send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  gateway_->AwaitRequests(1);
  ExpectSilenceUntilPing();
}

TEST_F(RelayTest, AgentResponsesAreForwarded) {
  StartGateway();
  Send(R"({"jsonrpc":"2.0","id":"server-1","result":{}})");
  gateway_->AwaitRequests(1);
  ExpectSilenceUntilPing();
}

TEST_F(RelayTest, InvalidLineIsAnsweredWithItsIdIfReadable) {
  StartGateway();
  for (const char* line : {R"({"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"\ud8"}})",
                           R"({"jsonrpc":"2.0","id":7,"method":"ping",})",
                           R"({"jsonrpc":"2.0","method":"ping","id":7,"params":{"a":1 2}})",
                           R"({"jsonrpc":"2.0","id":7,"method":"ping","params":)",
                           "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"a\":\"\xFF\"}"}) {
    Send(line);
    const auto answer = Read();
    EXPECT_EQ(answer["id"], 7) << line;
    EXPECT_EQ(answer["error"]["code"], kParseError) << line;
  }
  for (const char* line :
       {R"({"id":"a","method":"ping"})", R"({"jsonrpc":"1.0","id":"a","method":"ping"})",
        R"({"jsonrpc":"2.0","id":"a","method":5})",
        R"({"jsonrpc":"2.0","id":"a","method":"ping","params":{},"params":{}})"}) {
    Send(line);
    const auto answer = Read();
    EXPECT_EQ(answer["id"], "a") << line;
    EXPECT_EQ(answer["error"]["code"], kInvalidRequest) << line;
  }
  // The id is not valid.
  for (const char* id :
       {"07", "+7", "7.", ".7e1", "7 1", "\"a\xFF\"", "1.5", "nan", "[7]", "tru"}) {
    Send(absl::StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":"ping",})"));
    EXPECT_FALSE(Read().contains("id")) << id;
  }
  ExpectSilenceUntilPing();
  EXPECT_EQ(gateway_->requests().size(), 1u);
}

TEST_F(RelayTest, EachMessageOfBatchIsAnsweredSeparately) {
  StartGateway();
  Send(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"}, 7,{"jsonrpc":"2.0","id":"a","method":5},)"
      R"({"jsonrpc":"2.0","method":"notifications/x"},[{"jsonrpc":"2.0","id":3,"method":"ping"}]])");
  std::map<std::string, int> codes;
  for (int i = 0; i < 4; ++i) {
    const auto answer = Read();
    const std::string id = answer.contains("id") ? answer["id"].dump() : absl::StrCat("none ", i);
    codes[id] = answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
  }
  EXPECT_EQ(codes.size(), 4u);
  EXPECT_EQ(codes["1"], 0);
  EXPECT_EQ(codes["\"a\""], kInvalidRequest);
  ExpectSilenceUntilPing();
}

TEST_F(RelayTest, BrokenMessageOfBatchDoesNotAffectOthers) {
  StartGateway();
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  for (const char* broken : {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"a\":\"\xFF\"}",
                             R"({"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":1e999}})",
                             R"({"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"\x"}})",
                             R"({"jsonrpc":"2.0","id":2,"method":"ping",})",
                             R"({"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":1})"}) {
    Send(absl::StrCat("[", ping, ",", broken, "]"));
    std::map<int, nlohmann::json> answers;
    for (int i = 0; i < 2; ++i) {
      const auto answer = Read();
      answers[answer["id"]] = answer;
    }
    EXPECT_TRUE(answers[1].contains("result")) << broken;
    EXPECT_EQ(answers[2]["error"]["code"], kParseError) << broken;
  }
  // The messages after a missing bracket may belong to the message that lacks it.
  Send(R"([{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":1},)" + ping + "]");
  for (const int id : {2, 1}) {
    const auto answer = Read();
    EXPECT_EQ(answer["id"], id);
    EXPECT_EQ(answer["error"]["code"], kParseError);
  }
  EXPECT_EQ(gateway_->requests().size(), 5u);
}

TEST_F(RelayTest, RepairableBatchIsForwarded) {
  StartGateway();
  Send(
      "\xEF\xBB\xBF[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":"
      "\"\\ud83d\"}}]");
  EXPECT_EQ(Read()["id"], 1);
  EXPECT_EQ(gateway_->requests().at(0).body,
            R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ufffd"}})");
}

TEST_F(RelayTest, RepairableMessageIsForwarded) {
  StartGateway();
  Send(
      "\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":7.0,\"method\":\"ping\",\"params\":{\"a\":"
      "\"\\ud83d\"}}");
  EXPECT_EQ(Read()["id"], 7);
  EXPECT_EQ(gateway_->requests().at(0).body,
            R"({"jsonrpc":"2.0","id":7.0,"method":"ping","params":{"a":"\ufffd"}})");
}

TEST_F(RelayTest, InvalidLinesWithoutIdAreAnsweredButNotForwarded) {
  StartGateway();
  Send("{");
  EXPECT_EQ(Read()["error"]["code"], kParseError);
  Call("1.5", "ping");
  EXPECT_EQ(Read()["error"]["code"], kInvalidRequest);
  Send("[]");
  EXPECT_FALSE(Read().contains("id"));
  relay_->HandleTooLongLine("");
  EXPECT_EQ(Read()["error"]["code"], kInvalidRequest);
  Send(" \r");
  ExpectSilenceUntilPing();
  EXPECT_EQ(gateway_->requests().size(), 1u);
}

TEST_F(RelayTest, TooLongLineIsAnsweredWithItsId) {
  StartGateway(
      [](FakeGateway& gateway, const httplib::Request& request, httplib::Response& response) {
        if (Mentions(request, "tools/call")) gateway.Freeze();
        AnswerPlainly(request.body, response);
      });
  relay_->HandleTooLongLine("7");
  auto answer = Read();
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(answer["error"]["code"], kInvalidRequest);
  EXPECT_EQ(answer["error"]["data"]["reason"], "line_too_long");
  EXPECT_EQ(answer["error"]["data"]["final"], true);
  EXPECT_EQ(answer["error"]["data"]["may_have_executed"], false);
  // A call that is still open keeps its id for its own answer.
  CallTool("8", "interact", "{}");
  relay_->HandleTooLongLine("8");
  answer = Read();
  EXPECT_FALSE(answer.contains("id")) << answer;
  gateway_->Release();
  EXPECT_EQ(Read()["id"], 8);
}

class SessionTest : public RelayTest {
 protected:
  void SetUp() override {
    token_ = "secret";
    StartGateway(
        [](FakeGateway& gateway, const httplib::Request& request, httplib::Response& response) {
          if (!Mentions(request, "\"initialize\"")) return AnswerPlainly(request.body, response);
          gateway.Freeze();
          response.set_header("Mcp-Session-Id", "session-1");
          response.set_content(ResultFor("0", R"({"protocolVersion":"2025-11-25"})"),
                               "application/json");
        });
  }
};

TEST_F(SessionTest, LaterMessagesWaitForSessionAndCarryIt) {
  Call("0", "initialize");
  Send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  Call("1", "tools/list");
  gateway_->AwaitRequests(1);
  EXPECT_EQ(gateway_->requests().size(), 1u);
  gateway_->Release();
  EXPECT_EQ(Read()["id"], 0);
  EXPECT_EQ(Read()["id"], 1);
  gateway_->AwaitRequests(3);
  for (const httplib::Request& request : gateway_->requests()) {
    const bool is_first = Mentions(request, "\"initialize\"");
    EXPECT_EQ(request.get_header_value("Mcp-Session-Id"), is_first ? "" : "session-1");
    EXPECT_EQ(request.get_header_value("MCP-Protocol-Version"), is_first ? "" : "2025-11-25");
  }
}

TEST_F(SessionTest, DrainEndsTheSession) {
  Call("0", "initialize");
  gateway_->Release();
  EXPECT_EQ(Read()["id"], 0);
  relay_->Drain(absl::Seconds(1));
  const httplib::Request request = gateway_->requests().back();
  EXPECT_EQ(request.method, "DELETE");
  EXPECT_EQ(request.get_header_value("Authorization").substr(0, 14), "Callslip-HMAC ");
  EXPECT_EQ(request.get_header_value("Mcp-Session-Id"), "session-1");
}

TEST_F(SessionTest, HeldCallCanBeCancelled) {
  Call("0", "initialize");
  Call("1", "tools/list");
  CancelCall("1");
  gateway_->Release();
  EXPECT_EQ(Read()["id"], 0);
  ExpectSilenceUntilPing();
}

TEST_F(SessionTest, TimedOutInitializeReleasesHeldCalls) {
  Call("0", "initialize");
  gateway_->AwaitRequests(1);
  fake_clock_.Advance(absl::Seconds(9));
  Call("1", "tools/list");
  fake_clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Read()["error"]["code"], kRequestTimeout);
  EXPECT_EQ(Read()["id"], 1);
}

// A gateway that answers a `tools/call` only after Release(), and everything else at once.
class FrozenToolsTest : public RelayTest {
 protected:
  void SetUp() override {
    StartGateway(
        [](FakeGateway& gateway, const httplib::Request& request, httplib::Response& response) {
          if (Mentions(request, "tools/call")) gateway.Freeze();
          AnswerPlainly(request.body, response);
        });
  }
};

TEST_F(FrozenToolsTest, ToolCallGetsToolResultAtDeadline) {
  CallTool("1", "interact", R"({"action":"click"})");
  gateway_->AwaitRequests(1);
  fake_clock_.Advance(absl::Seconds(35));
  const auto result = Read()["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(result["content"][0]["text"].get<std::string>(), HasSubstr("within 35s"));
  const auto details = result["structuredContent"];
  EXPECT_EQ(details["status"], "timeout");
  EXPECT_EQ(details["final"], false);
  EXPECT_EQ(details["may_have_executed"], true);
  // The agent never got the id of the command. With the request_id it can find the command.
  EXPECT_THAT(details["hint"].get<std::string>(),
              HasSubstr(details["request_id"].get<std::string>()));
}

TEST_F(FrozenToolsTest, BridgeAnswersEscapeLineSeparators) {
  CallTool("1", "observe", R"({"what":"command_result","correlation_id":"a\u2028b"})");
  gateway_->AwaitRequests(1);
  fake_clock_.Advance(absl::Seconds(65));
  const std::string line = ReadLine();
  EXPECT_THAT(line, HasSubstr(R"("correlation_id":"a\u2028b")"));
  EXPECT_FALSE(absl::StrContains(line, "\xE2\x80\xA8")) << line;
}

TEST_F(FrozenToolsTest, DeadlineResultNamesCorrelationIdAndNextStep) {
  CallTool("1", "observe", R"({"what":"command_result","correlation_id":"ann_1_a"})");
  gateway_->AwaitRequests(1);
  fake_clock_.Advance(absl::Seconds(64));
  ExpectSilenceUntilPing();
  fake_clock_.Advance(absl::Seconds(1));
  const auto details = Read()["result"]["structuredContent"];
  EXPECT_EQ(details["status"], "pending");
  EXPECT_EQ(details["final"], false);
  EXPECT_EQ(details["correlation_id"], "ann_1_a");
  EXPECT_THAT(details["hint"].get<std::string>(),
              HasSubstr(R"(observe {"correlation_id":"ann_1_a","what":"command_result"})"));
}

TEST_F(FrozenToolsTest, ShorterWaitIsPassedToGateway) {
  relay_ =
      std::make_unique<Relay>(TimeoutPolicy({.fast = {absl::Seconds(5), absl::Seconds(2)},
                                             .slow = {absl::Seconds(8), absl::Seconds(5)},
                                             .blocking = {absl::Seconds(12), absl::Seconds(8)}}),
                              clock(), client_.get(), writer_.get());
  CallTool("1", "interact", R"({"action":"click","wait_ms":30000})");
  CallTool("2", "session", R"({"what":"wait","session_id":"s"})");
  gateway_->AwaitRequests(2);
  for (const httplib::Request& request : gateway_->requests()) {
    EXPECT_EQ(nlohmann::json::parse(request.body)["params"]["arguments"]["wait_ms"], 5000)
        << request.body;
  }
  gateway_->Release();
  Read();
  Read();
}

TEST_F(FrozenToolsTest, LateAnswerIsDropped) {
  CallTool("1", "interact", "{}");
  gateway_->AwaitRequests(1);
  fake_clock_.Advance(absl::Seconds(35));
  EXPECT_EQ(Read()["id"], 1);
  gateway_->Release();
  ExpectSilenceUntilPing();
}

TEST_F(FrozenToolsTest, CancelIsForwardedAndSuppressesAnswer) {
  CallTool("\"a\"", "interact", "{}");
  gateway_->AwaitRequests(1);
  CancelCall("\"a\"");
  gateway_->AwaitRequests(2);
  EXPECT_TRUE(Mentions(gateway_->requests()[1], R"("requestId":"a")"));
  fake_clock_.Advance(absl::Seconds(60));
  gateway_->Release();
  ExpectSilenceUntilPing();
}

TEST_F(FrozenToolsTest, CancelledIdCanBeReused) {
  CallTool("1", "interact", "{}");
  CancelCall("1");
  Call("1", "ping");
  EXPECT_EQ(ReadLine(), ResultFor("1", R"({"method":"ping"})"));
  ExpectSilenceUntilPing();
}

TEST_F(FrozenToolsTest, CancelOfUnknownRequestIsForwarded) {
  CancelCall("99");
  gateway_->AwaitRequests(1);
  ExpectSilenceUntilPing();
}

TEST_F(FrozenToolsTest, DuplicateIdIsRefusedWithoutHarmToFirstCall) {
  CallTool("\"A\"", "interact", "{}");
  Call("\"\\u0041\"", "ping");
  const auto refusal = Read();
  EXPECT_EQ(refusal["error"]["code"], kInvalidRequest);
  EXPECT_FALSE(refusal.contains("id"));
  gateway_->Release();
  EXPECT_EQ(ReadLine(), ResultFor("\"A\"", R"({"method":"tools/call"})"));
}

TEST_F(FrozenToolsTest, FastCallsAreNotBlockedByWaits) {
  constexpr int kWaits = 100;
  for (int i = 0; i < kWaits; ++i) {
    CallTool(absl::StrCat(i), "interact", R"({"wait_ms":30000})");
  }
  gateway_->AwaitRequests(kMaxOpenWaits);
  ExpectSilenceUntilPing();
  // Slow by its class, but it does not ask for a wait.
  CallTool("\"at once\"", "interact", "{}");
  gateway_->AwaitRequests(kMaxOpenWaits + 2);
  gateway_->Release();
  std::set<int> ids;
  for (int i = 0; i < kWaits + 1; ++i) {
    const auto id = Read()["id"];
    if (id.is_number()) ids.insert(id.get<int>());
  }
  EXPECT_EQ(ids.size(), static_cast<size_t>(kWaits));
}

TEST_F(FrozenToolsTest, TooManyUnfinishedCallsAreRefused) {
  for (size_t i = 0; i < kMaxUnfinishedCalls; ++i) CallTool(absl::StrCat(i), "interact", "{}");
  CallTool("-1", "interact", "{}");
  const auto answer = Read();
  EXPECT_EQ(answer["id"], -1);
  EXPECT_EQ(answer["result"]["structuredContent"]["reason"], "too_many_calls");
  fake_clock_.Advance(absl::Seconds(35));
  std::set<int> ids;
  for (size_t i = 0; i < kMaxUnfinishedCalls; ++i) ids.insert(Read()["id"].get<int>());
  EXPECT_EQ(ids.size(), kMaxUnfinishedCalls);
}

TEST_F(FrozenToolsTest, DrainAnswersCallsUnfinishedAfterGrace) {
  CallTool("1", "observe", R"({"what":"command_result","correlation_id":"ann_1_a"})");
  gateway_->AwaitRequests(1);
  relay_->Drain(absl::ZeroDuration());
  const auto details = Read()["result"]["structuredContent"];
  EXPECT_EQ(details["reason"], "bridge_closing");
  EXPECT_EQ(details["status"], "pending");
  EXPECT_EQ(details["correlation_id"], "ann_1_a");
  Call("2", "ping");
  EXPECT_EQ(Read()["error"]["code"], kConnectionError);
}

TEST_F(RelayTest, DrainLetsCallsFinish) {
  StartGateway();
  for (int i = 0; i < 20; ++i) Call(absl::StrCat(i), "ping");
  relay_->Drain(absl::Seconds(1));
  std::set<int> ids;
  for (int i = 0; i < 20; ++i) {
    const auto answer = Read();
    EXPECT_TRUE(answer.contains("result"));
    ids.insert(answer["id"].get<int>());
  }
  EXPECT_EQ(ids.size(), 20u);
}

TEST_F(RelayTest, EachOfManyCallsIsAnsweredOnce) {
  StartGateway();
  constexpr int kCalls = 500;
  for (int i = 0; i < kCalls; ++i) {
    CallTool(absl::StrCat(i), i % 2 == 0 ? "interact" : "observe", "{}");
  }
  std::set<int> ids;
  for (int i = 0; i < kCalls; ++i) ids.insert(Read()["id"].get<int>());
  EXPECT_EQ(ids.size(), static_cast<size_t>(kCalls));
  ExpectSilenceUntilPing();
}

}  // namespace
}  // namespace callslip::bridge
