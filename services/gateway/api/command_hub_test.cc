#include "gateway/api/command_hub.h"

#include <deque>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "gateway/json/parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/fake_tracker_client.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Batch = absl::StatusOr<std::vector<v1::CommandUpdate>>;

// The batches that a feed of the tracker delivers; the test sets them.
struct FeedScript {
  explicit FeedScript(asio::io_context& io) : news(io, asio::steady_timer::time_point::max()) {}

  void Push(Batch batch) {
    batches.push_back(std::move(batch));
    news.cancel();
  }

  CommandHub::Which which;
  bool only_changes = false;
  std::deque<Batch> batches;
  asio::steady_timer news;
  bool left = false;
};

class ScriptedFeed final : public CommandFeed {
 public:
  explicit ScriptedFeed(std::shared_ptr<FeedScript> script) : script_(std::move(script)) {}
  ~ScriptedFeed() override { script_->left = true; }

  asio::awaitable<Batch> Next() override {
    while (script_->batches.empty()) {
      co_await script_->news.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    Batch batch = std::move(script_->batches.front());
    script_->batches.pop_front();
    co_return batch;
  }

 private:
  const std::shared_ptr<FeedScript> script_;
};

v1::CommandUpdate Changed(const std::string& id, int64_t revision) {
  v1::CommandUpdate update;
  v1::Command& command = *update.mutable_command();
  command.set_command_id(id);
  command.set_state(v1::COMMAND_STATE_QUEUED);
  command.set_revision(revision);
  return update;
}

class CommandHubTest : public testing::Test {
 protected:
  CommandHubTest() {
    tracker_.on_watch = [this](const std::string& client_id, const std::string& owner,
                               const v1::CommandFilter& filter, bool only_changes) {
      feeds_.push_back(std::make_shared<FeedScript>(io_));
      feeds_.back()->which = {.client_id = client_id,
                              .owner = owner,
                              .target = filter.target(),
                              .label = filter.label()};
      feeds_.back()->only_changes = only_changes;
      return std::make_unique<ScriptedFeed>(feeds_.back());
    };
  }

  void Run() {
    io_.restart();
    io_.poll();
  }

  // The next changes for the observer. Fails the test if there are none yet.
  absl::StatusOr<CommandObserver::Changes> Next(CommandObserver& observer) {
    std::optional<absl::StatusOr<CommandObserver::Changes>> told;
    asio::co_spawn(
        io_, [&]() -> asio::awaitable<void> { told.emplace(co_await observer.Next()); },
        asio::detached);
    Run();
    EXPECT_TRUE(told.has_value());
    return told.value_or(absl::InternalError("told nothing"));
  }

  asio::io_context io_;
  FakeClock clock_;
  FakeTrackerClient tracker_{&clock_};
  std::vector<std::shared_ptr<FeedScript>> feeds_;
  const std::shared_ptr<ByteBudget> budget_ = std::make_shared<ByteBudget>(32 << 20, 32 << 20);
  const std::shared_ptr<CommandHub> hub_ =
      std::make_shared<CommandHub>(io_.get_executor(), &tracker_, budget_);
};

TEST_F(CommandHubTest, ObserversOfSameCommandsShareFeedAndEncoding) {
  const CommandHub::Which which{.client_id = "v@viewer", .owner = "*", .target = "t", .label = "l"};
  auto first = hub_->Join(which);
  auto second = hub_->Join(which);
  auto other = hub_->Join({.client_id = "a"});
  Run();
  ASSERT_THAT(feeds_, SizeIs(2));
  EXPECT_EQ(feeds_[0]->which, which);
  feeds_[0]->Push(std::vector<v1::CommandUpdate>{Changed("c", 1)});
  Run();
  const auto told = Next(*first);
  ASSERT_TRUE(told.ok());
  ASSERT_THAT(told->rows, SizeIs(1));
  EXPECT_EQ(Json::parse(*told->rows[0])["correlation_id"], "c");
  EXPECT_THAT(Next(*second)->rows, ElementsAre(told->rows[0]));
  first.reset();
  Run();
  EXPECT_FALSE(feeds_[0]->left);
  second.reset();
  Run();
  EXPECT_TRUE(feeds_[0]->left);
  EXPECT_FALSE(feeds_[1]->left);
}

TEST_F(CommandHubTest, SlowObserverGetsNewestChangeOfEachCommand) {
  const auto observer = hub_->Join({.client_id = "a"});
  Run();
  feeds_[0]->Push(std::vector<v1::CommandUpdate>{Changed("c", 1), Changed("d", 1)});
  feeds_[0]->Push(std::vector<v1::CommandUpdate>{Changed("c", 2)});
  Run();
  const auto told = Next(*observer);
  ASSERT_THAT(told->rows, SizeIs(2));
  EXPECT_EQ(Json::parse(*told->rows[0])["revision"], 2) << "at the place of its first change";
  EXPECT_EQ(Json::parse(*told->rows[1])["correlation_id"], "d");
  EXPECT_FALSE(told->lost);
}

TEST_F(CommandHubTest, ChangesAreDeliveredInOrderAndInBatches) {
  const auto observer = hub_->Join({.client_id = "a"});
  Run();
  std::vector<v1::CommandUpdate> many;
  for (size_t i = 0; i < CommandHub::kMaxRows + 1; ++i) many.push_back(Changed(absl::StrCat(i), 1));
  feeds_[0]->Push(many);
  Run();
  EXPECT_THAT(Next(*observer)->rows, SizeIs(CommandHub::kMaxRows));
  const auto rest = Next(*observer);
  ASSERT_THAT(rest->rows, SizeIs(1));
  EXPECT_EQ(Json::parse(*rest->rows[0])["correlation_id"], absl::StrCat(CommandHub::kMaxRows));
}

TEST_F(CommandHubTest, ExcessChangesAreDroppedAndLossIsReported) {
  const auto observer = hub_->Join({.client_id = "a"});
  Run();
  std::vector<v1::CommandUpdate> many;
  for (size_t i = 0; i < CommandHub::kMaxWaiting + 1; ++i) {
    many.push_back(Changed(absl::StrCat(i), 1));
  }
  feeds_[0]->Push(many);
  Run();
  const auto told = Next(*observer);
  EXPECT_TRUE(told->lost);
  EXPECT_THAT(told->rows, SizeIs(1)) << "what came after is told";
}

TEST_F(CommandHubTest, WaitingChangesUseSharedBudget) {
  const auto observer = hub_->Join({.client_id = "a"});
  Run();
  feeds_[0]->Push(std::vector{Changed("1", 1)});
  Run();
  EXPECT_GT(budget_->taken(), 0u);
  ByteBudget::Place others(budget_);
  ASSERT_TRUE(others.Grow((32 << 20) - budget_->taken()));
  feeds_[0]->Push(std::vector{Changed("2", 1)});
  Run();
  others.Shrink(0);
  EXPECT_TRUE(Next(*observer)->lost);
  // Delivered changes use the budget until the observer asks for the next ones.
  feeds_[0]->Push(std::vector{Changed("3", 1)});
  Run();
  EXPECT_THAT(Next(*observer)->rows, SizeIs(1));
  EXPECT_GT(budget_->taken(), 0u);
  auto next = Changed("4", 1);
  feeds_[0]->Push(std::vector{next});
  Run();
  EXPECT_THAT(Next(*observer)->rows, SizeIs(1));
}

TEST_F(CommandHubTest, BrokenFeedIsReopenedAndLossIsReported) {
  const auto observer = hub_->Join({.client_id = "a"});
  Run();
  feeds_[0]->Push(absl::UnavailableError("the connection was lost"));
  Run();
  const auto told = Next(*observer);
  ASSERT_TRUE(told.ok());
  EXPECT_TRUE(told->lost);
  EXPECT_THAT(told->rows, IsEmpty());
  io_.restart();
  while (feeds_.size() < 2) io_.run_one();
  feeds_[1]->Push(std::vector<v1::CommandUpdate>{Changed("c", 3)});
  Run();
  EXPECT_THAT(Next(*observer)->rows, SizeIs(1));
}

TEST_F(CommandHubTest, RemovedCommandIsMarkedAsRemoved) {
  const auto observer = hub_->Join({.client_id = "a"});
  Run();
  v1::CommandUpdate removed = Changed("c", 2);
  removed.set_removed(true);
  feeds_[0]->Push(std::vector<v1::CommandUpdate>{Changed("c", 2), removed, Changed("d", 1)});
  Run();
  const auto told = Next(*observer);
  ASSERT_THAT(told->rows, SizeIs(2));
  EXPECT_TRUE(Json::parse(*told->rows[0])["removed"].get<bool>());
  EXPECT_FALSE(Json::parse(*told->rows[1]).contains("removed"));
}

TEST_F(CommandHubTest, OnlyChangesAreFollowedWhenThereAreTooManyCommands) {
  const auto observer = hub_->Join({.client_id = "a"});
  Run();
  EXPECT_FALSE(feeds_[0]->only_changes);
  feeds_[0]->Push(ErrorWithDetails(absl::StatusCode::kResourceExhausted, "too many",
                                   {.reason = "too_slow", .hint = "h"}));
  Run();
  EXPECT_TRUE(Next(*observer)->lost);
  io_.restart();
  while (feeds_.size() < 2) io_.run_one();
  EXPECT_TRUE(feeds_[1]->only_changes);
  // The stream has begun. Rows that were listed before may be outdated.
  feeds_[1]->Push(std::vector<v1::CommandUpdate>{v1::CommandUpdate()});
  Run();
  const auto told = Next(*observer);
  EXPECT_TRUE(told->lost);
  EXPECT_THAT(told->rows, IsEmpty());
  feeds_[1]->Push(std::vector<v1::CommandUpdate>{Changed("c", 1)});
  Run();
  EXPECT_THAT(Next(*observer)->rows, SizeIs(1));
}

TEST_F(CommandHubTest, RefusalOfTrackerEndsObserver) {
  for (const auto& [code, reason] :
       {std::pair(absl::StatusCode::kPermissionDenied, "not_your_client"),
        std::pair(absl::StatusCode::kResourceExhausted, "too_many_waits")}) {
    feeds_.clear();
    const auto observer = hub_->Join({.client_id = "a", .owner = "*"});
    Run();
    feeds_[0]->Push(ErrorWithDetails(code, "no", {.reason = reason, .hint = "h"}));
    Run();
    EXPECT_EQ(DetailsOf(Next(*observer).status()).reason, reason);
    EXPECT_THAT(feeds_, SizeIs(1));
  }
}

TEST_F(CommandHubTest, TooSlowFeedIsReportedAsLoss) {
  const auto observer = hub_->Join({.client_id = "a"});
  Run();
  feeds_[0]->Push(ErrorWithDetails(absl::StatusCode::kResourceExhausted, "more than is read",
                                   {.reason = "too_slow", .hint = "h"}));
  Run();
  EXPECT_TRUE(Next(*observer)->lost);
}

TEST_F(CommandHubTest, ObserversGetErrorWhenGatewayDrains) {
  const auto before = hub_->Join({.client_id = "a"});
  Run();
  hub_->End();
  const auto after = hub_->Join({.client_id = "b"});
  EXPECT_EQ(DetailsOf(Next(*before).status()).reason, "draining");
  EXPECT_EQ(DetailsOf(Next(*after).status()).reason, "draining");
}

}  // namespace
}  // namespace callslip::gateway
