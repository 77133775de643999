#include "gateway/tracker_client/feed_watch.h"

#include <utility>
#include <vector>

#include "boost/asio/as_tuple.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/error_details.h"

namespace callslip::gateway {
namespace {

// The maximum that waits for Next(): ten messages of the tracker.
constexpr size_t kMaxWaiting = 10'000;

// Shared by the watch, which the hub owns, and the feed, which its user owns.
struct FeedState {
  explicit FeedState(boost::asio::any_io_executor executor)
      : changed(std::move(executor), boost::asio::steady_timer::time_point::max()) {}

  void End(absl::Status why) {
    if (status.ok()) status = std::move(why);
    changed.cancel();
  }

  std::vector<v1::CommandUpdate> updates;
  absl::Status status;
  boost::asio::steady_timer changed;  // Never expires; its waits are canceled.
  WatchHub* hub = nullptr;            // Set while the watch continues.
  int64_t watch_id = 0;
};

class FeedWatch final : public Watch {
 public:
  FeedWatch(Subject subject, std::shared_ptr<FeedState> state)
      : Watch(std::move(subject)), state_(std::move(state)) {}
  ~FeedWatch() override { state_->hub = nullptr; }

  void OnUpdate(v1::CommandUpdate update) override {
    if (state_->updates.size() < kMaxWaiting) {
      state_->updates.push_back(std::move(update));
      state_->changed.cancel();
      return;
    }
    const auto state = state_;  // Must outlive this watch.
    state->End(ErrorWithDetails(
        absl::StatusCode::kResourceExhausted, "changes came faster than they were read",
        {.reason = "too_slow", .hint = "List the commands, then watch anew."}));
    state->hub->Remove(state->watch_id);
  }

  void OnEnd(absl::Status status) override {
    state_->End(status.ok() ? absl::UnavailableError("the tracker shuts down") : std::move(status));
  }

 private:
  const std::shared_ptr<FeedState> state_;
};

class Feed final : public CommandFeed {
 public:
  explicit Feed(std::shared_ptr<FeedState> state) : state_(std::move(state)) {}
  ~Feed() override {
    if (state_->hub != nullptr) state_->hub->Remove(state_->watch_id);
  }

  boost::asio::awaitable<absl::StatusOr<std::vector<v1::CommandUpdate>>> Next() override {
    while (state_->updates.empty()) {
      if (!state_->status.ok()) co_return state_->status;
      co_await state_->changed.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
      if (cancellation.cancelled() != boost::asio::cancellation_type::none) {
        co_return absl::CancelledError("the caller has left");
      }
    }
    co_return std::exchange(state_->updates, {});
  }

 private:
  const std::shared_ptr<FeedState> state_;
};

}  // namespace

std::unique_ptr<CommandFeed> BeginFeed(boost::asio::any_io_executor executor, WatchHub* hub,
                                       std::string client_id, std::string owner,
                                       v1::CommandFilter filter, bool only_changes) {
  auto state = std::make_shared<FeedState>(std::move(executor));
  state->hub = hub;
  state->watch_id = hub->Begin(std::make_unique<FeedWatch>(
      Watch::Subject{.client_id = std::move(client_id),
                     .owner = std::move(owner),
                     .filter = std::make_unique<v1::CommandFilter>(std::move(filter)),
                     .only_changes = only_changes},
      state));
  return std::make_unique<Feed>(std::move(state));
}

}  // namespace callslip::gateway
