#include "gateway/api/command_hub.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "boost/asio/use_awaitable.hpp"
#include "common/error_details.h"
#include "gateway/http/await.h"
#include "gateway/http/scoped_task.h"
#include "gateway/json/command_detail.h"

namespace callslip::gateway {

namespace asio = boost::asio;

namespace {

// The pause before a broken feed is reopened; doubled if the next one breaks too.
constexpr std::chrono::milliseconds kRetryPause{250};
constexpr std::chrono::milliseconds kMaxPause{4'000};

// The memory of a queued row besides its text: its id twice, and table entries.
constexpr size_t kRowOverhead = 256;

// Whether another Watch() would fail the same way.
bool IsFinal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented: return true;
    case absl::StatusCode::kResourceExhausted:
      // Final unless this feed was too slow: the limit of watchers is reached.
      return DetailsOf(status).reason != "too_slow";
    default: return false;
  }
}

absl::Status Draining() {
  return ErrorWithDetails(absl::StatusCode::kUnavailable, "The gateway stops.",
                          {.reason = "draining", .hint = "Connect again."});
}

}  // namespace

// One feed of the tracker, and the observers of its updates.
struct CommandObserver::Watched {
  explicit Watched(CommandHub::Which of) : which(std::move(of)) {}

  void End(absl::Status why) {
    status = std::move(why);
    for (CommandObserver* observer : observers) observer->news_.cancel();
  }

  void Tell(const v1::CommandUpdate& update) {
    if (!update.has_command()) {  // Earlier updates may have been missed.
      for (CommandObserver* observer : observers) observer->Lose();
      return;
    }
    Json row = CommandRow(update.command());
    if (update.removed()) row["removed"] = true;
    const auto text = std::make_shared<const std::string>(Dump(row));
    for (CommandObserver* observer : observers) {
      observer->Take(update.command().command_id(), text);
    }
  }

  const CommandHub::Which which;
  bool only_changes = false;  // See TrackerClient::Watch().
  std::vector<CommandObserver*> observers;
  absl::Status status;  // The reason for the end.
  std::optional<ScopedTask> following;
};

CommandObserver::CommandObserver(std::shared_ptr<CommandHub> hub, std::shared_ptr<Watched> watched)
    : hub_(std::move(hub)),
      watched_(std::move(watched)),
      place_(hub_->waiting_),
      news_(hub_->executor_, asio::steady_timer::time_point::max()) {
  place_.SetCaller(watched_->which.client_id);
  watched_->observers.push_back(this);
}

CommandObserver::~CommandObserver() { hub_->Leave(this); }

asio::awaitable<absl::StatusOr<CommandObserver::Changes>> CommandObserver::Next() {
  bytes_ -= std::exchange(taken_bytes_, 0);
  place_.Shrink(bytes_);
  if (order_.empty() && !lost_ && watched_->status.ok()) co_await news_.async_wait(kAwait);
  if (order_.empty() && !lost_ && !watched_->status.ok()) co_return watched_->status;
  Changes changes{.rows = {}, .lost = std::exchange(lost_, false)};
  const size_t count = std::min(order_.size(), CommandHub::kMaxRows);
  for (size_t i = 0; i < count; ++i) {
    auto row = rows_.extract(order_[i]);
    taken_bytes_ += kRowOverhead + row.mapped()->size();
    changes.rows.push_back(std::move(row.mapped()));
  }
  order_.erase(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count));
  co_return changes;
}

void CommandObserver::Take(const std::string& id, std::shared_ptr<const std::string> row) {
  if (rows_.size() >= CommandHub::kMaxWaiting && !rows_.contains(id)) Lose();
  auto& waiting = rows_[id];
  if (waiting == nullptr) {
    order_.push_back(id);
    bytes_ += kRowOverhead;
  } else {
    bytes_ -= waiting->size();
  }
  bytes_ += row->size();
  waiting = std::move(row);
  if (!place_.Set(bytes_)) Lose();
  news_.cancel();
}

void CommandObserver::Lose() {
  order_ = {};
  rows_ = {};
  bytes_ = taken_bytes_;
  place_.Shrink(bytes_);
  lost_ = true;
  news_.cancel();
}

std::unique_ptr<CommandObserver> CommandHub::Join(const Which& which) {
  std::shared_ptr<Watched>& watched = watched_[which];
  if (watched == nullptr || !watched->status.ok()) {
    watched = std::make_shared<Watched>(which);
    if (ended_) {
      watched->status = Draining();
    } else {
      asio::awaitable<void> work = Follow(shared_from_this(), watched);
      watched->following.emplace(executor_, std::move(work));
    }
  }
  return std::make_unique<CommandObserver>(shared_from_this(), watched);
}

void CommandHub::End() {
  ended_ = true;
  for (const auto& [which, watched] : watched_) watched->End(Draining());
}

asio::awaitable<void> CommandHub::Follow(std::shared_ptr<CommandHub> self,
                                         std::shared_ptr<Watched> watched) {
  std::chrono::milliseconds pause = kRetryPause;
  while (watched->status.ok()) {
    v1::CommandFilter filter;
    filter.set_target(watched->which.target);
    filter.set_label(watched->which.label);
    const std::unique_ptr<CommandFeed> feed = self->tracker_->Watch(
        watched->which.client_id, watched->which.owner, std::move(filter), watched->only_changes);
    absl::Status end;
    while (watched->status.ok()) {
      const auto changed = co_await feed->Next();
      if (!changed.ok()) {
        end = changed.status();
        break;
      }
      pause = kRetryPause;
      for (const v1::CommandUpdate& update : *changed) watched->Tell(update);
    }
    // There are more commands than fit into the start of a feed; observers list them instead.
    if (DetailsOf(end).reason == "too_slow") watched->only_changes = true;
    if (IsFinal(end)) watched->End(end);
    if (!watched->status.ok()) break;
    for (CommandObserver* observer : watched->observers) observer->Lose();
    asio::steady_timer timer(self->executor_, pause);
    co_await timer.async_wait(asio::use_awaitable);
    pause = std::min(2 * pause, kMaxPause);
  }
}

void CommandHub::Leave(CommandObserver* observer) {
  const std::shared_ptr<Watched> watched = observer->watched_;
  std::erase(watched->observers, observer);
  if (!watched->observers.empty()) return;
  const auto place = watched_.find(watched->which);
  if (place != watched_.end() && place->second == watched) watched_.erase(place);
  watched->following.reset();
}

}  // namespace callslip::gateway
