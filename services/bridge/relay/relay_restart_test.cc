#include <atomic>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bridge/relay/relay_test_fixture.h"
#include "common/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

// Uses the real clock, because the relay waits between its attempts.
class RelayRestartTest : public RelayTest {
 protected:
  Clock* clock() override { return &real_clock_; }

  // The request_id of the nth tools/call that the gateway has seen.
  std::string RequestIdOfCall(size_t nth) {
    std::vector<std::string> ids;
    for (const httplib::Request& request : gateway_->requests()) {
      if (!Mentions(request, "tools/call")) continue;
      ids.push_back(nlohmann::json::parse(request.body)["params"]["arguments"]["request_id"]);
    }
    return ids.at(nth);
  }
};

// Breaks the connection of the first `times` calls of a tool in the middle of their answer.
FakeGateway::Handler BreaksFirst(int times, const std::string& content_type) {
  const auto left = std::make_shared<std::atomic<int>>(times);
  return [=](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
    if (!Mentions(request, "tools/call") || left->fetch_sub(1) <= 0) {
      return AnswerPlainly(request.body, response);
    }
    response.set_content_provider(10'000, content_type,
                                  [](size_t offset, size_t, httplib::DataSink& sink) {
                                    return offset == 0 && sink.write(": x\n", 4);
                                  });
  };
}

TEST_F(RelayRestartTest, BrokenInteractIsRepeatedWithSameRequestId) {
  for (const char* content_type : {"application/json", "text/event-stream"}) {
    StartGateway(BreaksFirst(2, content_type));
    CallTool("7", "interact", R"({"action":"click"})");
    EXPECT_EQ(ReadLine(), ResultFor("7", R"({"method":"tools/call"})"));
    ExpectSilenceUntilPing();
    EXPECT_EQ(RequestIdOfCall(0).size(), 32u);
    EXPECT_EQ(RequestIdOfCall(0), RequestIdOfCall(2));
    relay_.reset();
    client_.reset();
  }
}

TEST_F(RelayRestartTest, RepeatedCallStillUnderWayIsRepeatedAgain) {
  const auto breaks = BreaksFirst(1, "application/json");
  const auto refused = std::make_shared<std::atomic<int>>(0);
  StartGateway(
      [=](FakeGateway& gateway, const httplib::Request& request, httplib::Response& response) {
        if (gateway.requests().size() != 2) return breaks(gateway, request, response);
        response.status = 400;
        response.set_content(R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"under way"}})",
                             "application/json");
        ++*refused;
      });
  CallTool("7", "interact", "{}");
  EXPECT_EQ(ReadLine(), ResultFor("7", R"({"method":"tools/call"})"));
  EXPECT_EQ(*refused, 1);
}

// Every call that only reads.
struct ReadingCall {
  const char* method;
  const char* params;
};
constexpr ReadingCall kReads[] = {
    {"tools/call", R"({"name":"observe","arguments":{"what":"pending_commands"}})"},
    {"tools/call",
     R"({"name":"observe","arguments":{"what":"command_result","correlation_id":"ann_1"}})"},
    {"tools/call", R"({"name":"analyze","arguments":{"what":"annotations"}})"},
    {"tools/call", R"({"name":"session","arguments":{"what":"list"}})"},
    {"tools/call", R"({"name":"session","arguments":{"what":"read","session_id":"s"}})"},
    {"tools/call", R"({"name":"session","arguments":{"what":"wait","session_id":"s"}})"},
    {"tools/call", R"({"name":"session","arguments":{"what":"agents"}})"},
    {"tools/call", R"({"name":"session","arguments":{"what":"answer","session_id":"s"}})"},
    {"tools/list", "{}"},
    {"resources/list", "{}"},
    {"resources/templates/list", "{}"},
    {"resources/read", R"({"uri":"callslip://result/corr-1"})"},
    {"tasks/get", R"({"taskId":"corr-1"})"},
    {"tasks/result", R"({"taskId":"corr-1"})"},
    {"tasks/list", "{}"},
    {"ping", "{}"},
    {"server/discover", "{}"},
};

TEST_F(RelayRestartTest, ReadOnlyCallsAreRepeated) {
  for (const ReadingCall& read : kReads) {
    const auto left = std::make_shared<std::atomic<int>>(2);
    StartGateway([=](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
      if (left->fetch_sub(1) <= 0) return AnswerPlainly(request.body, response);
      response.set_content_provider(10'000, "application/json",
                                    [](size_t offset, size_t, httplib::DataSink& sink) {
                                      return offset == 0 && sink.write("{", 1);
                                    });
    });
    Call("7", read.method, read.params);
    EXPECT_EQ(ReadLine(), ResultFor("7", absl::StrCat(R"({"method":")", read.method, "\"}")))
        << read.params;
    ExpectSilenceUntilPing();
    relay_.reset();
    client_.reset();
  }
}

TEST_F(RelayRestartTest, SubmittingAnalyzeIsRepeatedWithSameRequestId) {
  for (const char* arguments : {R"({"what":"page"})", R"({"what":"annotations","wait":true})"}) {
    StartGateway(BreaksFirst(2, "application/json"));
    CallTool("7", "analyze", arguments);
    EXPECT_EQ(ReadLine(), ResultFor("7", R"({"method":"tools/call"})"));
    EXPECT_EQ(RequestIdOfCall(0).size(), 32u);
    EXPECT_EQ(RequestIdOfCall(0), RequestIdOfCall(2));
    relay_.reset();
    client_.reset();
  }
}

TEST_F(RelayRestartTest, ActingCallWithoutRequestIdIsNotRepeated) {
  StartGateway(BreaksFirst(1, "application/json"));
  CallTool("7", "session", R"({"what":"enqueue","session_id":"s","message":"m"})");
  EXPECT_EQ(Read()["result"]["structuredContent"]["reason"], "connection_broke");
  ExpectSilenceUntilPing();
  EXPECT_EQ(gateway_->requests().size(), 2u);
}

TEST_F(RelayRestartTest, AnalyzeWithAgentRequestIdIsRepeated) {
  StartGateway(BreaksFirst(1, "application/json"));
  CallTool("7", "analyze", R"({"what":"page","request_id":"mine"})");
  EXPECT_EQ(Read()["result"]["method"], "tools/call");
  EXPECT_EQ(RequestIdOfCall(1), "mine");
}

// A gateway that knows only the sessions that it has issued since it last forgot them all.
class ForgetfulGatewayTest : public RelayRestartTest {
 protected:
  void SetUp() override {
    StartGateway(
        [this](FakeGateway& gateway, const httplib::Request& request, httplib::Response& response) {
          if (Mentions(request, "\"initialize\"")) {
            response.set_header("Mcp-Session-Id", absl::StrCat("session-", ++sessions_));
            response.set_content(
                ResultFor("0", absl::StrCat(R"({"protocolVersion":")", version_, "\"}")),
                "application/json");
            return;
          }
          if (request.get_header_value("Mcp-Session-Id") ==
              absl::StrCat("session-", sessions_.load())) {
            return AnswerPlainly(request.body, response);
          }
          // All calls that were sent with the old session come here before there is a new one.
          if (crowd_ > 0) gateway.AwaitRequests(crowd_);
          response.status = 404;
          response.set_content(R"({"jsonrpc":"2.0","error":{"code":-32001,"message":"gone"}})",
                               "application/json");
        });
    Call("0", "initialize");
    EXPECT_EQ(Read()["id"], 0);
  }

  std::atomic<int> sessions_{0};
  std::atomic<size_t> crowd_{0};
  std::string version_ = "2025-11-25";
};

TEST_F(ForgetfulGatewayTest, ManyCallsShareOneNewSession) {
  constexpr int kCalls = 30;
  sessions_ = 10;
  crowd_ = kCalls + 1;
  for (int i = 1; i <= kCalls; ++i) CallTool(absl::StrCat(i), "observe", "{}");
  std::set<int> ids;
  for (int i = 1; i <= kCalls; ++i) {
    const auto answer = Read();
    EXPECT_TRUE(answer.contains("result")) << answer;
    ids.insert(answer["id"].get<int>());
  }
  EXPECT_EQ(ids.size(), size_t{kCalls});
  EXPECT_EQ(sessions_, 11);
  ExpectSilenceUntilPing();
  int initialized = 0;
  for (const httplib::Request& request : gateway_->requests()) {
    initialized += Mentions(request, "notifications/initialized") ? 1 : 0;
  }
  EXPECT_EQ(initialized, 1);
}

TEST_F(ForgetfulGatewayTest, NewSessionHasLogLevelOfPreviousOne) {
  Call("1", "logging/setLevel", R"({"level":"error"})");
  EXPECT_EQ(Read()["id"], 1);
  sessions_ = 10;
  Call("2", "tools/list");
  EXPECT_EQ(Read()["id"], 2);
  std::vector<std::string> levels_of;
  for (const httplib::Request& request : gateway_->requests()) {
    if (!Mentions(request, R"({"level":"error"})")) continue;
    levels_of.push_back(request.get_header_value("Mcp-Session-Id"));
  }
  EXPECT_THAT(levels_of, testing::ElementsAre("session-1", "session-11"));
}

TEST_F(ForgetfulGatewayTest, SessionOfOtherVersionIsNotAdopted) {
  sessions_ = 10;
  version_ = "2025-06-18";
  Call("1", "tools/list");
  const auto answer = Read();
  EXPECT_EQ(answer["id"], 1);
  EXPECT_EQ(answer["error"]["code"], -32001);
}

TEST_F(RelayRestartTest, ReplacedTokenIsReadAgain) {
  token_ = "old";
  StartGateway(FakeGateway::Options{.token = "new"});
  CallTool("1", "observe", "{}");
  EXPECT_EQ(Read()["result"]["structuredContent"]["reason"], "unproven_answer");
  token_ = "new";
  CallTool("2", "observe", "{}");
  EXPECT_EQ(ReadLine(), ResultFor("2", R"({"method":"tools/call"})"));
}

TEST_F(RelayRestartTest, DiscoverWaitsForStartingGateway) {
  const int port = UnusedPort();
  Connect(port);
  Call("1", "server/discover",
       R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})");
  gateway_ = std::make_unique<FakeGateway>(FakeGateway::Options{.port = port});
  EXPECT_EQ(ReadLine(), ResultFor("1", R"({"method":"server/discover"})"));
}

}  // namespace
}  // namespace callslip::bridge
