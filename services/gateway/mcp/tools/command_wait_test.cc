#include "gateway/mcp/tools/command_wait.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "common/fake_clock.h"
#include "gateway/mcp/tools/tasks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/fake_tracker_client.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;

// A caller that records its notifications with their times.
class FakeContext final : public CallContext {
 public:
  struct Heard {
    double progress;
    std::string message;
    absl::Time at;
  };

  FakeContext(Clock* clock, bool listens) : clock_(clock), listens_(listens) {}

  const std::vector<Heard>& heard() const { return heard_; }
  std::vector<std::string> messages() const {
    std::vector<std::string> messages;
    for (const Heard& each : heard_) messages.push_back(each.message);
    return messages;
  }
  int logged() const { return logged_; }
  struct Notified {
    std::string method;
    Json params;
    absl::Time at;
  };
  const std::vector<Notified>& notified() const { return notified_; }

  Era era() const override { return Era::kLegacy; }
  const Principal& principal() const override { return principal_; }
  TraceContext trace() const override { return {}; }
  const Json& client_capabilities() const override { return nothing_; }
  bool as_task() const override { return false; }
  const Json& params() const override { return nothing_; }
  bool listens() const override { return listens_; }
  void NotifyProgress(double progress, std::optional<double>, const std::string& message) override {
    heard_.push_back({progress, message, clock_->Now()});
  }
  void NotifyLog(const std::string& level, const std::string&, Json) override {
    EXPECT_EQ(level, "info");
    ++logged_;
  }
  void Notify(const std::string& method, Json params) override {
    notified_.push_back({method, std::move(params), clock_->Now()});
  }
  boost::asio::awaitable<RpcOutcome> Request(std::string, Json) override { co_return Json(); }

 private:
  Clock* const clock_;
  const bool listens_;
  const Principal principal_{.name = "agent", .role = Role::kClient};
  const Json nothing_ = Json::object();
  std::vector<Heard> heard_;
  int logged_ = 0;
  std::vector<Notified> notified_;
};

class CommandWaitTest : public testing::Test {
 protected:
  CommandWaitTest() {
    // Waits take all of their time and nothing changes, unless a test sets it.
    tracker_.on_wait = [this](v1::Command&, absl::Duration max_wait) { clock_.Advance(max_wait); };
    id_ = tracker_.Add("agent", "get_page").command_id();
  }

  std::shared_ptr<FakeContext> Caller(bool listens) {
    return std::make_shared<FakeContext>(&clock_, listens);
  }

  absl::StatusOr<v1::Command> Await(const std::shared_ptr<FakeContext>& caller,
                                    const std::string& id, absl::Duration max_wait) {
    absl::StatusOr<v1::Command> ended = absl::UnknownError("still waiting");
    boost::asio::co_spawn(io_, AwaitEnd(&tracker_, &clock_, caller, id, max_wait),
                          [&](const std::exception_ptr&, absl::StatusOr<v1::Command> command) {
                            ended = std::move(command);
                          });
    io_.run();
    return ended;
  }

  RpcOutcome ResultOf(const std::shared_ptr<FakeContext>& caller) {
    const CommandTasks tasks(&tracker_, &clock_);
    RpcOutcome outcome;
    boost::asio::co_spawn(
        io_, tasks.Result(caller, id_),
        [&](const std::exception_ptr&, RpcOutcome result) { outcome = std::move(result); });
    io_.run();
    return outcome;
  }
  // From now on the command ends at `at`; waits take all of their time until then.
  void EndAt(absl::Time at) {
    tracker_.on_wait = [this, at](v1::Command& command, absl::Duration max_wait) {
      clock_.Advance(max_wait);
      while (clock_.Now() >= at && command.state() != v1::COMMAND_STATE_COMPLETED) {
        FakeTrackerClient::TakeStep(command, max_wait);
      }
    };
  }

  static void ExpectGrowing(const FakeContext& caller, absl::Time since) {
    double progress = 0;
    for (const FakeContext::Heard& each : caller.heard()) {
      EXPECT_GT(each.progress, progress);
      EXPECT_LE(each.at - since, kProgressInterval);
      progress = each.progress;
      since = each.at;
    }
  }

  boost::asio::io_context io_;
  FakeClock clock_;
  FakeTrackerClient tracker_{&clock_};
  std::string id_;
};

TEST_F(CommandWaitTest, CallerWithoutProgressCostsOneWait) {
  const auto caller = Caller(/*listens=*/false);
  const auto ended = Await(caller, id_, absl::Seconds(30));
  EXPECT_EQ(ended->state(), v1::COMMAND_STATE_QUEUED);
  EXPECT_THAT(tracker_.max_waits(), ElementsAre(absl::Seconds(30)));
  EXPECT_TRUE(caller->heard().empty());
}

TEST_F(CommandWaitTest, CallerIsNotifiedEveryFifteenSeconds) {
  const absl::Time start = clock_.Now();
  const auto caller = Caller(/*listens=*/true);
  const auto ended = Await(caller, id_, absl::Seconds(50));
  EXPECT_EQ(ended->state(), v1::COMMAND_STATE_QUEUED);
  EXPECT_EQ(clock_.Now() - start, absl::Seconds(50));
  // At once, and then after 15, 30 and 45 s. The answer itself reports the end.
  EXPECT_THAT(caller->messages(), ElementsAre("queued", "queued", "queued", "queued"));
  EXPECT_EQ(caller->logged(), 4);
  ExpectGrowing(*caller, start);
}

TEST_F(CommandWaitTest, CallerIsNotifiedOfEachStepOfWorker) {
  tracker_.on_wait = [&](v1::Command& command, absl::Duration) {
    clock_.Advance(absl::Seconds(1));
    FakeTrackerClient::TakeStep(command, absl::Seconds(1));
    if (command.state() != v1::COMMAND_STATE_RUNNING) return;
    command.mutable_progress()->set_fraction(0.5);
    command.mutable_progress()->set_message("half of it");
  };
  const absl::Time start = clock_.Now();
  const auto caller = Caller(/*listens=*/true);
  const auto ended = Await(caller, id_, absl::Seconds(30));
  EXPECT_EQ(ended->state(), v1::COMMAND_STATE_COMPLETED);
  EXPECT_THAT(caller->messages(), ElementsAre("queued", "delivered", "running, 50 %: half of it"));
  ExpectGrowing(*caller, start);
}

TEST_F(CommandWaitTest, ProgressNeverDecreases) {
  const std::vector<double> fractions = {0.9, 0.1, 0.5};
  tracker_.on_wait = [&, step = 0u](v1::Command& command, absl::Duration max_wait) mutable {
    clock_.Advance(step < fractions.size() ? absl::Seconds(1) : max_wait);
    if (step == fractions.size()) return;
    command.mutable_progress()->set_fraction(fractions[step++]);
    command.set_revision(command.revision() + 1);
  };
  const absl::Time start = clock_.Now();
  const auto caller = Caller(/*listens=*/true);
  EXPECT_TRUE(Await(caller, id_, absl::Seconds(10)).ok());
  EXPECT_THAT(caller->messages(),
              ElementsAre("queued", "queued, 90 %", "queued, 10 %", "queued, 50 %"));
  ExpectGrowing(*caller, start);
}

TEST_F(CommandWaitTest, EndedCommandCausesNoNotification) {
  while (tracker_.command(id_).state() != v1::COMMAND_STATE_COMPLETED) {
    FakeTrackerClient::TakeStep(tracker_.command(id_), absl::ZeroDuration());
  }
  const auto caller = Caller(/*listens=*/true);
  EXPECT_EQ(Await(caller, id_, absl::Seconds(30))->state(), v1::COMMAND_STATE_COMPLETED);
  EXPECT_TRUE(caller->heard().empty());
}

TEST_F(CommandWaitTest, LookDoesNotWait) {
  const auto caller = Caller(/*listens=*/true);
  EXPECT_EQ(Await(caller, id_, absl::ZeroDuration())->state(), v1::COMMAND_STATE_QUEUED);
  EXPECT_THAT(tracker_.max_waits(), ElementsAre(absl::ZeroDuration()));
  EXPECT_TRUE(caller->heard().empty());
}

TEST_F(CommandWaitTest, UnknownCommandReturnsError) {
  for (const bool listens : {false, true}) {
    io_.restart();
    const auto ended = Await(Caller(listens), "corr-1-none", absl::Seconds(30));
    EXPECT_EQ(ended.status().code(), absl::StatusCode::kNotFound);
  }
}

// Clients abandon a request after a minute without a notification, and a task can take longer.
TEST_F(CommandWaitTest, LongWaitForResultSendsProgressRegularly) {
  const absl::Time start = clock_.Now();
  EndAt(start + absl::Minutes(5));
  const auto caller = Caller(/*listens=*/true);
  EXPECT_EQ(std::get<Json>(ResultOf(caller))["structuredContent"]["result"], 1);
  EXPECT_GE(caller->heard().size(), 20u);
  ExpectGrowing(*caller, start);
}

// Each message that the bridge receives restarts its time limit.
TEST_F(CommandWaitTest, ResultWaitWithoutProgressSendsTaskStatus) {
  absl::Time heard = clock_.Now();
  EndAt(heard + absl::Minutes(5));
  const auto caller = Caller(/*listens=*/false);
  EXPECT_EQ(std::get<Json>(ResultOf(caller))["structuredContent"]["result"], 1);
  EXPECT_GE(caller->notified().size(), 19u);
  for (const FakeContext::Notified& each : caller->notified()) {
    EXPECT_EQ(each.method, "notifications/tasks/status");
    EXPECT_EQ(each.params["taskId"], id_);
    EXPECT_LE(each.at - heard, kProgressInterval);
    heard = each.at;
  }
}

TEST_F(CommandWaitTest, UnreachableTrackerEndsNoWait) {
  for (const bool listens : {false, true}) {
    io_.restart();
    id_ = tracker_.Add("agent", "get_page").command_id();
    EndAt(clock_.Now() + absl::Seconds(40));
    tracker_.waits_to_lose = 3;
    EXPECT_EQ(std::get<Json>(ResultOf(Caller(listens)))["structuredContent"]["result"], 1)
        << listens;
  }
  io_.restart();
  id_ = tracker_.Add("agent", "get_page").command_id();
  EndAt(clock_.Now() + absl::Seconds(20));
  tracker_.waits_to_lose = 3;
  EXPECT_EQ(Await(Caller(/*listens=*/true), id_, absl::Seconds(30))->state(),
            v1::COMMAND_STATE_COMPLETED);
}

}  // namespace
}  // namespace callslip::gateway
