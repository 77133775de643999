#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "bridge/http/limits.h"
#include "bridge/relay/limits.h"
#include "bridge/relay/relay_test_fixture.h"
#include "common/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;

FakeGateway::Handler Replies(int status, const std::string& content_type, const std::string& body) {
  return [=](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
    if (request.body.find("tools/call") == std::string::npos) {
      return AnswerPlainly(request.body, response);
    }
    response.status = status;
    response.set_content(body, content_type);
  };
}

// Answers a tools/call with a body of which only the beginning is sent.
FakeGateway::Handler BreaksOffAfter(const std::string& content_type, const std::string& beginning) {
  return [=](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
    if (request.body.find("tools/call") == std::string::npos) {
      return AnswerPlainly(request.body, response);
    }
    response.set_content_provider(
        10'000, content_type, [beginning](size_t offset, size_t, httplib::DataSink& sink) {
          return offset == 0 && sink.write(beginning.data(), beginning.size());
        });
  };
}

// A counter of permissions: each Allow() lets one Wait() return, now or later.
class SingleUse {
 public:
  void Allow() {
    MutexLock lock(&mutex_);
    ++allowed_;
    changed_.NotifyAll();
  }
  void End() {
    MutexLock lock(&mutex_);
    over_ = true;
    changed_.NotifyAll();
  }
  // False after End().
  bool Wait() {
    MutexLock lock(&mutex_);
    while (allowed_ == 0 && !over_) changed_.Wait(&mutex_);
    --allowed_;
    return !over_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int allowed_ ABSL_GUARDED_BY(mutex_) = 0;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
};

class RelayFaultTest : public RelayTest {
 protected:
  // Calls a tool and returns its result, which must be the only answer.
  nlohmann::json ResultOfToolCall() {
    CallTool("7", "analyze", "{}");
    const auto answer = Read();
    EXPECT_EQ(answer["id"], 7);
    ExpectSilenceUntilPing();
    EXPECT_EQ(answer["result"]["isError"], true) << answer;
    return answer["result"]["structuredContent"];
  }
};

TEST_F(RelayFaultTest, EachBadAnswerBecomesOneError) {
  const struct {
    int status;
    const char* content_type;
    const char* body;
    const char* reason;
  } kCases[] = {
      {200, "application/json", "no json", "bad_answer"},
      {200, "application/json", "", "bad_answer"},
      {200, "text/html", "<html></html>", "bad_answer"},
      {200, "application/json", R"({"jsonrpc":"2.0","id":8,"result":{}})", "bad_answer"},
      {202, "", "", "bad_answer"},
      {500, "text/plain", "oops", "http_error"},
      {503, "application/json", "", "http_error"},
      {404, "text/html", "<html></html>", "http_error"},
      {401, "application/json", R"({"error":"token_missing"})", "not_authorized"},
      {200, "text/event-stream", "", "stream_ended_early"},
      {200, "text/event-stream", ": hello\n\ndata: garbage\n\n", "stream_ended_early"},
      {200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n",
       "stream_ended_early"},
  };
  for (const auto& c : kCases) {
    StartGateway(Replies(c.status, c.content_type, c.body));
    EXPECT_EQ(ResultOfToolCall()["reason"], c.reason) << c.status << " " << c.body;
    relay_.reset();
    client_.reset();
  }
}

TEST_F(RelayFaultTest, TooLargeAnswersAreReplaced) {
  StartGateway(Replies(200, "application/json", std::string(kMaxAnswerBytes + 1, ' ')));
  EXPECT_EQ(ResultOfToolCall()["reason"], "answer_too_large");
}

TEST_F(RelayFaultTest, BrokenConnectionIsNotRetried) {
  for (const bool with_reset : {false, true}) {
    StartGateway(FakeGateway::Options{.handler = BreaksOffAfter("application/json", "{\"jsonrpc\""),
                                      .reset_on_close = with_reset});
    const auto details = ResultOfToolCall();
    EXPECT_EQ(details["reason"], "connection_broke");
    EXPECT_EQ(details["may_have_executed"], true);
    EXPECT_THAT(details["hint"].get<std::string>(), HasSubstr("pending_commands"));
    EXPECT_EQ(gateway_->requests().size(), 2u);  // The call and the ping.
    relay_.reset();
    client_.reset();
  }
}

TEST_F(RelayFaultTest, BrokenStreamForwardsItsEventsThenFails) {
  const std::string progress =
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}})";
  StartGateway(BreaksOffAfter("text/event-stream", absl::StrCat("data: ", progress, "\n\n")));
  CallTool("7", "analyze", "{}");
  EXPECT_EQ(ReadLine(), progress);
  EXPECT_EQ(Read()["result"]["structuredContent"]["reason"], "connection_broke");
  ExpectSilenceUntilPing();
}

// A task that a person finishes takes minutes.
TEST_F(RelayFaultTest, TaskResultTimeoutCountsFromLastSign) {
  const std::string sign = R"({"jsonrpc":"2.0","method":"notifications/tasks/status"})";
  // The gateway's thread may still use them when this function ends.
  const auto next = std::make_shared<SingleUse>();
  StartGateway([=](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
    if (!Mentions(request, "tasks/result")) return AnswerPlainly(request.body, response);
    response.set_chunked_content_provider(
        "text/event-stream", [=](size_t, httplib::DataSink& sink) {
          const std::string event = absl::StrCat("data: ", sign, "\n\n");
          return next->Wait() && sink.write(event.data(), event.size());
        });
  });
  Call("7", "tasks/result", R"({"taskId":"ann_1"})");
  for (int i = 0; i < 10; ++i) {
    next->Allow();
    EXPECT_EQ(ReadLine(), sign);
    fake_clock_.Advance(absl::Seconds(64));
    ExpectSilenceUntilPing();
  }
  fake_clock_.Advance(absl::Seconds(1));
  const auto answer = Read();
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(answer["error"]["data"]["reason"], "deadline_exceeded");
  EXPECT_EQ(answer["error"]["data"]["final"], false);
  next->End();
}

TEST_F(RelayFaultTest, StreamsAreForwardedInOrder) {
  std::string events;
  for (int i = 0; i < 5; ++i) {
    absl::StrAppend(&events, "event: message\ndata: {\"jsonrpc\":\"2.0\",\ndata:  \"method\":\"n",
                    i, "\"}\n\n");
  }
  absl::StrAppend(&events, "data: ", ResultFor("7", "{}"), "\n\ndata: ", ResultFor("7", "[]"),
                  "\n\n");
  StartGateway(Replies(200, "text/event-stream; charset=utf-8", events));
  CallTool("7", "interact", "{}");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ReadLine(), absl::StrCat(R"({"jsonrpc":"2.0","method":"n)", i, "\"}"));
  }
  EXPECT_EQ(ReadLine(), ResultFor("7", "{}"));
  ExpectSilenceUntilPing();
}

TEST_F(RelayFaultTest, TricklingAnswerDoesNotExtendDeadline) {
  StartGateway([](FakeGateway&, const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider(
        "application/json", [](size_t, httplib::DataSink& sink) { return sink.write(" ", 1); });
  });
  CallTool("7", "interact", "{}");
  gateway_->AwaitRequests(1);
  fake_clock_.Advance(absl::Seconds(35));
  const auto details = Read()["result"]["structuredContent"];
  EXPECT_THAT(details["reason"], testing::AnyOf("deadline_exceeded", "answer_too_large"));
}

TEST_F(RelayFaultTest, UnreachableGatewayIsReportedWithItsAddress) {
  const int port = UnusedPort();
  Connect(port);
  CallTool("7", "interact", "{}");
  Call("8", "tools/list");
  fake_clock_.Advance(kConnectPatience);
  nlohmann::json call = Read();
  nlohmann::json list = Read();
  if (call["id"] != 7) std::swap(call, list);
  const auto details = call["result"]["structuredContent"];
  EXPECT_EQ(details["reason"], "gateway_unreachable");
  EXPECT_EQ(details["may_have_executed"], false);
  EXPECT_EQ(details["final"], false);
  EXPECT_THAT(details["hint"].get<std::string>(), HasSubstr("./dev up"));
  EXPECT_EQ(list["error"]["code"], kConnectionError);
  EXPECT_THAT(list["error"]["message"].get<std::string>(),
              HasSubstr(absl::StrCat("127.0.0.1:", port)));
}

TEST_F(RelayFaultTest, CallWaitingForGatewayCanBeCancelledAndDrained) {
  Connect(UnusedPort());
  CallTool("7", "interact", "{}");
  CallTool("8", "interact", "{}");
  CancelCall("7");
  relay_->Drain(absl::ZeroDuration());
  const auto answer = Read();
  EXPECT_EQ(answer["id"], 8);
  EXPECT_EQ(answer["result"]["structuredContent"]["may_have_executed"], false);
}

// Uses the real clock, because these tests wait for backoffs and timeouts to pass by themselves.
class RelayRealTimeTest : public RelayFaultTest {
 protected:
  Clock* clock() override { return &real_clock_; }
};

TEST_F(RelayRealTimeTest, CallSurvivesLateGatewayStart) {
  const int port = UnusedPort();
  Connect(port);
  CallTool("7", "interact", "{}");
  gateway_ = std::make_unique<FakeGateway>(FakeGateway::Options{.port = port});
  EXPECT_EQ(ReadLine(), ResultFor("7", R"({"method":"tools/call"})"));
}

TEST_F(RelayRealTimeTest, CallsToFrozenGatewayAreAnsweredInTime) {
  StartGateway(
      [](FakeGateway& gateway, const httplib::Request&, httplib::Response&) { gateway.Freeze(); });
  const absl::Duration none = absl::ZeroDuration();
  relay_ = std::make_unique<Relay>(TimeoutPolicy({.fast = {absl::Milliseconds(100), none},
                                                  .slow = {absl::Milliseconds(200), none},
                                                  .blocking = {absl::Milliseconds(300), none}}),
                                   clock(), client_.get(), writer_.get());
  const absl::Time start = real_clock_.Now();
  CallTool("1", "interact", "{}");
  Call("2", "tools/list");
  CallTool("3", "observe", R"({"what":"command_result","correlation_id":"ann_1"})");
  EXPECT_EQ(Read()["error"]["code"], kRequestTimeout);
  EXPECT_EQ(Read()["id"], 1);
  EXPECT_EQ(Read()["result"]["structuredContent"]["correlation_id"], "ann_1");
  EXPECT_GE(real_clock_.Now() - start, absl::Milliseconds(300));
}

}  // namespace
}  // namespace callslip::bridge
