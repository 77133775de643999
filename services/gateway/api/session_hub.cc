#include "gateway/api/session_hub.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/error_details.h"
#include "gateway/api/streamed_text.h"
#include "gateway/http/await.h"
#include "gateway/http/scoped_task.h"
#include "gateway/json/event_text.h"
#include "gateway/json/session_json.h"
#include "gateway/tracker_client/request_about.h"

namespace callslip::gateway {

namespace asio = boost::asio;

namespace {

// The pause before a call that the tracker has ended is repeated.
constexpr std::chrono::milliseconds kRetryPause{250};

// The most bytes that an observer takes at a time.
constexpr size_t kMaxBatchBytes = 64 << 10;

constexpr size_t kUpdateOverhead = 128;

// Whether another call would fail the same way.
bool IsFinal(const absl::Status& status) {
  if (DetailsOf(status).reason == "too_many_observers") return true;
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented: return true;
    default: return false;
  }
}

absl::Status TooSlow() {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted, "More has happened than was read.",
      {.reason = "too_slow", .hint = "Watch anew after the last seq that was received."});
}

absl::Status Draining() {
  return ErrorWithDetails(absl::StatusCode::kUnavailable, "The gateway stops.",
                          {.reason = "draining", .hint = "Connect again."});
}

}  // namespace

// One call to the tracker, and the observers of its updates.
struct SessionObserver::Watched {
  using Key = SessionHub::Key;

  Watched(Key of, int64_t newest, std::shared_ptr<ByteBudget> budget)
      : key(std::move(of)), max_seq(newest), place(std::move(budget)) {
    place.SetCaller(key.client_id);
  }

  void Push(const Json& notice) {
    if (!notice.is_null()) Push(notice.value("type", std::string()), Dump(notice), 0);
  }

  void Push(std::string type, std::string message, int64_t seq) {
    waiting.push_back({.seq = seq,
                       .type = std::move(type),
                       .message = std::make_shared<const std::string>(std::move(message))});
    bytes += BytesOf(waiting.back());
    if (seq > 0) max_seq = seq;
    DropSeen();
    const auto is_full = [this] {
      return bytes > SessionHub::kMaxWaitingBytes || waiting.size() > SessionHub::kMaxWaiting;
    };
    // An observer that has not seen a dropped update has been too slow. The newest one stays
    // regardless of its size, unless the shared memory budget is exhausted.
    while (!waiting.empty() && ((is_full() && waiting.size() > 1) || !place.SetBeyondFree(bytes))) {
      DropFirst();
    }
    for (SessionObserver* observer : observers) {
      if (observer->next_ >= first || observer->on_too_slow_ == nullptr) continue;
      std::exchange(observer->on_too_slow_, nullptr)();
    }
    Wake();
  }

  void DropFirst() {
    bytes -= BytesOf(waiting.front());
    waiting.pop_front();
    ++first;
  }

  // Drops the updates that all observers have seen.
  void DropSeen() {
    uint64_t oldest = end();
    for (const SessionObserver* observer : observers) oldest = std::min(oldest, observer->next_);
    while (!waiting.empty() && first < oldest) DropFirst();
    place.SetBeyondFree(bytes);
  }

  // Keeps the agent's state, its streamed text and the open permission requests for observers that
  // join later.
  void Note(const v1::SessionUpdate& update) {
    text.Note(update);
    if (update.has_snapshot()) agent = update.snapshot().session().agent();
    if (update.has_agent()) agent = update.agent();
    auto* open = permissions.mutable_permissions();
    if (update.has_snapshot()) *open = update.snapshot().permissions();
    if (!update.has_permission()) return;
    const v1::Permission& changed = update.permission();
    open->erase(std::remove_if(open->begin(), open->end(),
                               [&](const v1::Permission& each) {
                                 return each.permission_id() == changed.permission_id();
                               }),
                open->end());
    if (!changed.answered() && !changed.cancelled()) *open->Add() = changed;
  }

  // From here on nothing is missed. Called for the first call, and again when it is reopened.
  void Open() {
    if (std::exchange(is_open, true)) {
      Push({{"type", "notices_missed"}, {"data", Json::object()}});
      const Json said = text.ToJson();
      if (!said.is_null()) Push({{"type", "agent_text"}, {"data", said}});
    }
    Wake();
  }

  void End(absl::Status why) {
    status = std::move(why);
    Wake();
  }

  void Wake() {
    for (SessionObserver* observer : observers) observer->news_.cancel();
  }

  // Includes the overhead of keeping it.
  static size_t BytesOf(const ObservedUpdate& update) {
    return update.message->size() + kUpdateOverhead;
  }

  // The number of the next update.
  uint64_t end() const { return first + waiting.size(); }

  const Key key;
  int64_t max_seq;
  v1::ListPermissionsResponse permissions;  // The open ones.
  v1::AgentState agent;
  StreamedText text;
  std::deque<ObservedUpdate> waiting;
  size_t bytes = 0;
  ByteBudget::Place place;  // The memory budget of `waiting`.
  uint64_t first = 0;       // The number of the first update in `waiting`.
  std::vector<SessionObserver*> observers;
  bool is_open = false;
  absl::Status status;  // The reason for the end.
  std::optional<ScopedTask> following;
};

SessionObserver::SessionObserver(std::shared_ptr<SessionHub> hub, std::shared_ptr<Watched> watched)
    : hub_(std::move(hub)),
      watched_(std::move(watched)),
      joined_seq_(watched_->max_seq),
      next_(watched_->end()),
      taken_to_(next_),
      news_(hub_->executor_) {
  watched_->observers.push_back(this);
}

SessionObserver::~SessionObserver() { hub_->Leave(this); }

int64_t SessionObserver::max_seq() const { return watched_->max_seq; }

const v1::ListPermissionsResponse& SessionObserver::permissions() const {
  return watched_->permissions;
}

const v1::AgentState& SessionObserver::agent() const { return watched_->agent; }

Json SessionObserver::agent_text() const { return watched_->text.ToJson(); }

asio::awaitable<absl::StatusOr<std::vector<ObservedUpdate>>> SessionObserver::Next(
    std::chrono::milliseconds at_most) {
  Watched& watched = *watched_;
  next_ = taken_to_;
  watched.DropSeen();
  if (next_ == watched.end() && watched.status.ok()) {
    news_.expires_after(at_most);
    co_await news_.async_wait(kAwait);
  }
  if (next_ < watched.first) co_return TooSlow();
  if (next_ == watched.end() && !watched.status.ok()) co_return watched.status;
  std::vector<ObservedUpdate> updates;
  for (size_t bytes = 0; taken_to_ < watched.end() && bytes < kMaxBatchBytes; ++taken_to_) {
    updates.push_back(watched.waiting[taken_to_ - watched.first]);
    bytes += updates.back().message->size();
  }
  co_return updates;
}

SessionHub::Joined SessionHub::Join(std::string client_id, std::string session_id,
                                    std::chrono::milliseconds at_most) {
  // A named variable, because g++ 12 destroys aggregates twice that are created within a co_await.
  Key key{.client_id = std::move(client_id), .session_id = std::move(session_id)};
  const auto known = watched_.find(key);
  if (known != watched_.end() && known->second->is_open && known->second->status.ok()) {
    co_return Observe(known->first, known->second->max_seq);
  }
  auto request = RequestAbout<v1::GetSessionRequest>(key.client_id, key.session_id);
  const auto session = co_await sessions_->Call(std::move(request));
  if (!session.ok()) co_return session.status();
  co_return co_await Begin(std::move(key), session->max_seq(), at_most);
}

SessionHub::Joined SessionHub::JoinAll(std::string client_id, std::string owner) {
  return Begin({std::move(client_id), "", std::move(owner)}, 0, std::chrono::hours(24));
}

SessionHub::Joined SessionHub::Begin(Key key, int64_t max_seq, std::chrono::milliseconds at_most) {
  if (ended_) co_return Draining();
  std::unique_ptr<SessionObserver> observer = Observe(key, max_seq);
  Watched& watched = *observer->watched_;
  while (!watched.is_open && watched.status.ok()) {
    observer->news_.expires_after(at_most);
    const auto [cancelled] = co_await observer->news_.async_wait(kAwait);
    if (!cancelled) co_return absl::UnavailableError("the session could not be watched in time");
  }
  if (!watched.status.ok()) co_return watched.status;
  co_return observer;
}

void SessionHub::End() {
  ended_ = true;
  for (const auto& [key, watched] : watched_) watched->End(Draining());
}

std::unique_ptr<SessionObserver> SessionHub::Observe(const Key& key, int64_t max_seq) {
  std::shared_ptr<Watched>& watched = watched_[key];
  if (watched == nullptr || !watched->status.ok()) {
    watched = std::make_shared<Watched>(key, max_seq, waiting_);
    asio::awaitable<void> work = Follow(shared_from_this(), watched);
    watched->following.emplace(executor_, std::move(work));
  }
  return std::make_unique<SessionObserver>(shared_from_this(), watched);
}

asio::awaitable<void> SessionHub::Follow(std::shared_ptr<SessionHub> /*self*/,
                                         std::shared_ptr<Watched> watched) {
  const bool is_one = !watched->key.session_id.empty();
  while (watched->status.ok()) {
    absl::Status end;
    if (is_one) {
      end = co_await FollowOne(watched);
    } else {
      end = co_await FollowAll(watched);
    }
    if (IsFinal(end)) watched->End(end);
    if (!watched->status.ok()) break;
    asio::steady_timer pause(executor_, kRetryPause);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<absl::Status> SessionHub::FollowOne(std::shared_ptr<Watched> watched) {
  auto request =
      RequestAbout<v1::WatchSessionRequest>(watched->key.client_id, watched->key.session_id);
  request.set_after_seq(watched->max_seq);
  const auto stream = sessions_->Open(std::move(request));
  bool is_open = false;
  while (true) {
    const auto update = co_await stream->Next();
    if (!update.ok()) co_return update.status();
    if (!update->has_value()) co_return absl::OkStatus();
    watched->Note(**update);
    if (!is_open) watched->Open();
    is_open = true;
    if ((*update)->has_event()) {
      const v1::SessionEvent& event = (*update)->event();
      watched->Push(event.type(), EventText(event), event.seq());
    } else {
      watched->Push(ToMessage(**update));
    }
  }
}

asio::awaitable<absl::Status> SessionHub::FollowAll(std::shared_ptr<Watched> watched) {
  v1::WatchSessionsRequest request;
  request.set_client_id(watched->key.client_id);
  request.set_owner(watched->key.owner);
  const auto stream = sessions_->Open(std::move(request));
  bool is_open = false;
  while (true) {
    const auto notice = co_await stream->Next();
    if (!notice.ok()) co_return notice.status();
    if (!notice->has_value()) co_return absl::OkStatus();
    if (!is_open) watched->Open();
    is_open = true;
    watched->Push(ToMessage(**notice));
  }
}

void SessionHub::Leave(SessionObserver* observer) {
  const std::shared_ptr<Watched> watched = observer->watched_;
  std::erase(watched->observers, observer);
  if (!watched->observers.empty()) return watched->DropSeen();
  const auto known = watched_.find(watched->key);
  if (known != watched_.end() && known->second == watched) watched_.erase(known);
  watched->status = Draining();
  watched->following->End();
}

}  // namespace callslip::gateway
