#include "runner/session/recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "runner/tracker/call_with_retry.h"

namespace callslip::runner {
namespace {

// Long enough for a slow disk to finish: otherwise the search for the events could miss them, and
// they would be appended twice.
constexpr absl::Duration kAppendDeadline = absl::Seconds(30);

// The compared part of an event; the tracker sets the rest.
std::string Content(const v1::SessionEvent& event) {
  return absl::StrCat(event.type(), " ", event.data());
}

// Because of their content, whatever the cause of that.
bool AreRefused(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsInternal(status);
}

void SetAll(std::vector<Promise<bool>>& waiting) {
  for (const Promise<bool>& each : std::exchange(waiting, {})) each.Set(true);
}

}  // namespace

void Recorder::Begin() { status_ = absl::OkStatus(); }

bool Recorder::Add(NewEvent event) {
  if (!status_.ok()) return false;
  batch_.Add(std::move(event));
  if (batch_.bytes() > kMaxWaiting) {
    status_ = absl::ResourceExhaustedError("the tracker was away for too long");
    batch_ = {};
    return false;
  }
  if (!running_ && !batch_.empty()) {
    running_ = true;
    boost::asio::co_spawn(
        executor_, [self = shared_from_this()] { return self->Run(); }, boost::asio::detached);
  }
  return true;
}

boost::asio::awaitable<absl::Status> Recorder::Flush() {
  const auto self = shared_from_this();
  if (running_) {
    const Promise<bool> done(executor_);
    flushes_.push_back(done);
    co_await done.Get();
  }
  co_return status_;
}

boost::asio::awaitable<void> Recorder::WaitForRoom() {
  const auto self = shared_from_this();
  if (!running_ || has_room()) co_return;
  const Promise<bool> room(executor_);
  rooms_.push_back(room);
  co_await room.Get();
}

boost::asio::awaitable<void> Recorder::Run() {
  const auto self = shared_from_this();
  while (!batch_.empty() && status_.ok()) {
    const absl::Time begun = timers_->Now();
    const std::vector<v1::SessionEvent> events = batch_.Take();
    absl::Status appended = co_await Append(events);
    if (AreRefused(appended)) appended = co_await AppendEach(events);
    if (!appended.ok()) {
      status_ = std::move(appended);
      batch_ = {};
      break;
    }
    if (has_room()) SetAll(rooms_);
    const absl::Duration left = kEvery - (timers_->Now() - begun);
    if (left > absl::ZeroDuration() && flushes_.empty()) co_await Pause(*timers_, left);
  }
  running_ = false;
  SetAll(rooms_);
  SetAll(flushes_);
}

boost::asio::awaitable<absl::Status> Recorder::Append(std::vector<v1::SessionEvent> events) {
  auto request = RequestAbout<v1::AppendEventsRequest>(session_);
  for (const v1::SessionEvent& event : events) *request.add_events() = event;
  Backoff again;
  while (true) {
    const absl::StatusOr<v1::AppendEventsResponse> answer =
        co_await tracker_->Call(request, {.deadline = kAppendDeadline});
    if (answer.ok()) {
      last_seq_ = std::max(last_seq_, answer->last_seq());
      co_return absl::OkStatus();
    }
    if (!again.MayPass(answer.status()) || !status_.ok()) co_return answer.status();
    co_await Pause(*timers_, again.Next());
    // The answer may have been lost, or the call may never have been executed.
    const absl::StatusOr<bool> recorded = co_await WereRecorded(events);
    if (recorded.ok() && *recorded) co_return absl::OkStatus();
    if (!recorded.ok() && !IsPassing(recorded.status())) co_return recorded.status();
  }
}

boost::asio::awaitable<absl::Status> Recorder::AppendEach(std::vector<v1::SessionEvent> events) {
  for (const v1::SessionEvent& event : events) {
    std::vector<v1::SessionEvent> one = {event};
    absl::Status appended = co_await Append(one);
    if (AreRefused(appended)) {
      one = {LeftOut(event, appended.message())};
      appended = co_await Append(one);
    }
    if (!appended.ok()) co_return appended;
  }
  co_return absl::OkStatus();
}

boost::asio::awaitable<absl::StatusOr<bool>> Recorder::WereRecorded(
    const std::vector<v1::SessionEvent>& events) {
  auto request = RequestAbout<v1::ReadEventsRequest>(session_);
  request.set_limit(1000);
  int64_t after = last_seq_;
  std::vector<std::string> wanted;
  for (const v1::SessionEvent& event : events) wanted.push_back(Content(event));
  // The number of matching events of each possible beginning. The events were recorded together,
  // but others can have recorded equal ones, so there can be several beginnings.
  std::vector<size_t> found;
  while (true) {
    request.set_after_seq(after);
    const auto page =
        co_await CallWithRetry(*tracker_, *timers_, request, [this] { return !status_.ok(); });
    if (!page.ok()) co_return page.status();
    for (const v1::SessionEvent& event : page->events()) {
      const std::string content = Content(event);
      found.push_back(0);
      std::erase_if(found, [&](size_t& count) { return content != wanted[count++]; });
      if (!found.empty() && found.front() == wanted.size()) {
        last_seq_ = event.seq();
        co_return true;
      }
    }
    if (!page->has_more()) co_return false;
    after = page->next_after_seq();
  }
}

}  // namespace callslip::runner
