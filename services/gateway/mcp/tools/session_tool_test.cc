#include "gateway/mcp/tools/session_tool.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/io_context.hpp"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/fake_tracker_calls.h"
#include "support/session_events.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A caller that records its progress notifications.
class HearingContext final : public CallContext {
 public:
  Era era() const override { return Era::kModern; }
  const Principal& principal() const override { return principal_; }
  const Json& client_capabilities() const override { return nothing_; }
  bool as_task() const override { return false; }
  std::string session_id() const override { return own_session; }
  TraceContext trace() const override { return {}; }
  const Json& params() const override { return nothing_; }
  bool listens() const override { return true; }
  void NotifyProgress(double, std::optional<double>, const std::string& message) override {
    heard.push_back(message);
  }
  void NotifyLog(const std::string&, const std::string&, Json) override {}
  void Notify(const std::string&, Json) override {}
  boost::asio::awaitable<RpcOutcome> Request(std::string, Json) override { co_return Json(); }

  std::vector<std::string> heard;
  std::string own_session;

 private:
  const Principal principal_{.name = "agent", .role = Role::kClient};
  const Json nothing_;
};

class SessionToolTest : public testing::Test {
 protected:
  SessionToolTest()
      : client_(io_.get_executor()),
        hub_(std::make_shared<SessionHub>(io_.get_executor(), &client_,
                                          std::make_shared<ByteBudget>(32 << 20, 16 << 20))),
        tool_(&client_, hub_, &clock_),
        context_(std::make_shared<HearingContext>()) {
    client_.On<v1::GetSessionRequest>(
        [](const auto&) -> absl::StatusOr<v1::Session> { return v1::Session(); });
    client_.On<v1::GetQueueStatusRequest>(
        [this](const auto&) -> absl::StatusOr<v1::QueueStatus> { return status_; });
  }

  void Start(const Json& arguments) {
    result_.reset();
    boost::asio::co_spawn(io_, tool_.Call(context_, arguments),
                          [this](const std::exception_ptr& error, ToolResult result) {
                            EXPECT_EQ(error, nullptr);
                            result_ = std::get<Json>(std::move(result.result));
                          });
    Run();
  }

  void Run() {
    io_.restart();
    io_.poll();
  }

  // The structured answer of a call that does not wait.
  Json Call(const Json& arguments) {
    Start(arguments);
    return result_.has_value() ? (*result_)["structuredContent"] : Json();
  }

  void PushTurn(const std::string& outcome) {
    v1::SessionUpdate update;
    update.mutable_turn()->set_turn_id("turn-1");
    update.mutable_turn()->set_outcome(outcome);
    client_.watches.back().second->Push(update);
    Run();
  }

  FakeClock clock_;
  boost::asio::io_context io_;
  FakeTrackerCalls client_;
  const std::shared_ptr<SessionHub> hub_;
  const SessionTool tool_;
  const std::shared_ptr<HearingContext> context_;
  v1::QueueStatus status_;
  std::optional<Json> result_;
};

TEST_F(SessionToolTest, ListsAndReadsSessions) {
  client_.On<v1::ListSessionsRequest>(
      [](const auto& request) -> absl::StatusOr<v1::ListSessionsResponse> {
        EXPECT_EQ(request.client_id(), "agent");
        EXPECT_EQ(request.page_size(), 20);
        v1::ListSessionsResponse listed;
        listed.add_sessions()->set_session_id("s-1");
        return listed;
      });
  client_.On<v1::ReadEventsRequest>(
      [](const auto& request) -> absl::StatusOr<v1::ReadEventsResponse> {
        EXPECT_EQ(request.has_before_seq(), request.limit() == 20);
        v1::ReadEventsResponse page;
        for (const std::string& text : {std::string("hi"), std::string(100'000, 'x')}) {
          *page.add_events() = v1::MakeMessage(text);
          page.mutable_events()->rbegin()->set_seq(6 + page.events_size());
        }
        return page;
      });
  EXPECT_EQ(Call({{"what", "list"}})["result"]["sessions"][0]["session_id"], "s-1");
  const Json events = Call({{"what", "read"}, {"session_id", "s-1"}})["result"]["events"];
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0]["data"]["text"], "hi");
  EXPECT_GT(events[1]["omitted_bytes"], 98'000);
  EXPECT_GT(events[1]["data"]["text"].get<std::string>().size(), 1000u);
  EXPECT_THAT((*result_)["content"][0]["text"].get<std::string>(), HasSubstr("untrusted"));
  Call({{"what", "read"}, {"session_id", "s-1"}, {"after_seq", 6}, {"limit", 2}});
}

TEST_F(SessionToolTest, ErrorsNameTheirReason) {
  EXPECT_EQ(Call({{"what", "read"}})["error"], "invalid_arguments");
  EXPECT_EQ(Call({{"what", "wait"}, {"session_id", "s"}, {"wait_ms", 30'001}})["error"],
            "invalid_arguments");
  EXPECT_EQ(Call({{"what", "enqueue"}, {"session_id", "s"}})["error"], "invalid_arguments");
  client_.On<v1::AddMessageRequest>([](const auto&) -> absl::StatusOr<v1::QueuedMessage> {
    return ErrorWithDetails(absl::StatusCode::kResourceExhausted, "full",
                            {.reason = "queue_full", .hint = "Wait."});
  });
  const Json full = Call({{"what", "enqueue"}, {"session_id", "s"}, {"message", "m"}});
  EXPECT_EQ(full["error"], "queue_full");
  EXPECT_EQ(full["may_have_executed"], false);
}

TEST_F(SessionToolTest, WaitForIdleSessionReturnsAtOnce) {
  const Json answer = Call({{"what", "wait"}, {"session_id", "s"}});
  EXPECT_EQ(answer["status"], "complete");
  EXPECT_EQ(answer["final"], true);
}

TEST_F(SessionToolTest, WaitsForTurnOfQueuedMessage) {
  status_.set_length(1);
  status_.set_enabled(true);
  Start({{"what", "wait"}, {"session_id", "s"}});
  EXPECT_FALSE(result_.has_value());
  status_.set_turn_id("turn-1");
  status_.set_length(0);
  PushTurn("");
  EXPECT_FALSE(result_.has_value());
  status_.clear_turn_id();
  PushTurn("completed");
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ((*result_)["structuredContent"]["final"], true);
  EXPECT_THAT(context_->heard, ElementsAre("1 messages wait", "turn turn-1"));
  EXPECT_TRUE(client_.watches[0].second->left);
}

TEST_F(SessionToolTest, ReportsThatTurnContinues) {
  status_.set_turn_id("turn-1");
  const Json answer = Call({{"what", "wait"}, {"session_id", "s"}, {"wait_ms", 0}});
  EXPECT_EQ(answer["status"], "pending");
  EXPECT_EQ(answer["final"], false);
  EXPECT_EQ(answer["result"]["turn_id"], "turn-1");
}

TEST_F(SessionToolTest, WaitContinuesWhileTrackerIsUnreachable) {
  int looks = 0;
  client_.On<v1::GetQueueStatusRequest>([&](const auto&) -> absl::StatusOr<v1::QueueStatus> {
    if (++looks <= 2) return absl::UnavailableError("Socket closed");
    return status_;
  });
  Start({{"what", "wait"}, {"session_id", "s"}});
  while (!result_.has_value()) io_.run_one();
  EXPECT_EQ((*result_)["structuredContent"]["status"], "complete");
  EXPECT_EQ(looks, 3);
}

TEST_F(SessionToolTest, WaitThatCouldNotStartIsPending) {
  client_.On<v1::GetSessionRequest>([&](const auto&) -> absl::StatusOr<v1::Session> {
    clock_.Advance(absl::Seconds(1));
    return absl::UnavailableError("Socket closed");
  });
  Start({{"what", "wait"}, {"session_id", "s"}, {"wait_ms", 1500}});
  while (!result_.has_value()) io_.run_one();
  const Json& answer = (*result_)["structuredContent"];
  EXPECT_EQ(answer["error"], "tracker_unreachable");
  EXPECT_EQ(answer["status"], "pending");
  EXPECT_EQ(answer["final"], false);
}

TEST_F(SessionToolTest, AgentCanOmitIdOfItsOwnSession) {
  std::vector<std::string> read;
  client_.On<v1::ReadEventsRequest>(
      [&read](const auto& request) -> absl::StatusOr<v1::ReadEventsResponse> {
        read.push_back(request.session_id());
        return v1::ReadEventsResponse();
      });
  client_.On<v1::ListSessionsRequest>([](const auto&) -> absl::StatusOr<v1::ListSessionsResponse> {
    return v1::ListSessionsResponse();
  });
  EXPECT_EQ(Call({{"what", "read"}})["error"], "invalid_arguments");
  context_->own_session = "s-own";
  EXPECT_EQ(Call({{"what", "read"}})["status"], "complete");
  EXPECT_EQ(Call({{"what", "read"}, {"session_id", "s-other"}})["status"], "complete");
  EXPECT_EQ(Call({{"what", "list"}})["status"], "complete");
  EXPECT_EQ(Call(Json())["error"], "invalid_arguments");
  EXPECT_THAT(read, ElementsAre("s-own", "s-other"));
}

TEST_F(SessionToolTest, OverlongSessionIdsAreRefused) {
  for (const char* what : {"read", "wait", "enqueue"}) {
    EXPECT_EQ(
        Call({{"what", what}, {"session_id", std::string(129, 's')}, {"message", "m"}})["error"],
        "invalid_arguments")
        << what;
  }
}

}  // namespace
}  // namespace callslip::gateway
