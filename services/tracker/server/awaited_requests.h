#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "common/timer_thread.h"
#include "grpcpp/grpcpp.h"

namespace callslip::tracker::internal {

// The calls of one queue that were accepted, but whose requests are still incomplete. gRPC can hold
// almost a whole message for each. Used by the thread that polls the queue; timers end what takes
// too long, even if no further call arrives. Held by a shared_ptr.
class AwaitedRequests : public std::enable_shared_from_this<AwaitedRequests> {
 public:
  // A request that takes longer is cancelled.
  static constexpr absl::Duration kMaxAge = absl::Seconds(30);
  // The limit for unidentified callers, whose requests are small.
  static constexpr absl::Duration kMaxAgeUnauthenticated = absl::Seconds(5);
  // The maximum number of calls from unidentified callers that can wait, over all queues: beyond
  // it, the oldest are cancelled. A fresh burst may have more: their packets are still in transit.
  static constexpr size_t kStrangers = 16;
  static constexpr size_t kStrangersInBurst = 512;
  static constexpr absl::Duration kBurst = absl::Milliseconds(100);

 private:
  struct Entry {
    grpc::ServerContext* context;
    int64_t begun;  // In nanoseconds.
    bool is_cancelled = false;
  };
  struct Group {
    const absl::Duration max_age;
    std::list<Entry> entries;  // The oldest first.
    bool has_timer = false;    // For the oldest that is not cancelled.
  };

 public:
  // Removes its entry when destroyed. A default-constructed Place has no entry.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), group_(other.group_), at_(other.at_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(group_, other.group_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Place() {
      if (owner_ == nullptr) return;
      MutexLock lock(&owner_->mutex_);
      group_->entries.erase(at_);
    }

   private:
    friend class AwaitedRequests;
    Place(AwaitedRequests* owner, Group* group)
        : owner_(owner), group_(group), at_(std::prev(group->entries.end())) {}

    AwaitedRequests* owner_ = nullptr;
    Group* group_ = nullptr;
    std::list<Entry>::iterator at_;
  };

  // `queues` is the total number of queues. `timers` has the clock of the calls and must outlive
  // this; null if they have no clock: then no age ends them.
  AwaitedRequests(size_t queues, TimerThread* timers)
      : most_strangers_(kStrangers / queues),
        most_in_burst_(kStrangersInBurst / queues),
        timers_(timers) {}

  // Adds a call that began at `begun`. `context`, and this, must outlive the returned Place.
  [[nodiscard]] Place Add(grpc::ServerContext* context, int64_t begun, bool is_stranger) {
    MutexLock lock(&mutex_);
    Group& group = is_stranger ? strangers_ : known_;
    group.entries.push_back({.context = context, .begun = begun});
    SetTimer(group);
    // Cancelled entries are about to be removed.
    size_t waiting = 0;
    const int64_t burst = begun - absl::ToInt64Nanoseconds(kBurst);
    for (auto each = strangers_.entries.rbegin(); each != strangers_.entries.rend(); ++each) {
      if (each->is_cancelled) continue;
      ++waiting;
      const size_t most = each->begun < burst ? most_strangers_ : most_in_burst_;
      if (waiting > most) Cancel(*each);
    }
    return Place(this, &group);
  }

 private:
  void SetTimer(Group& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (timers_ == nullptr || group.has_timer) return;
    const auto oldest =
        absl::c_find_if(group.entries, [](const Entry& each) { return !each.is_cancelled; });
    if (oldest == group.entries.end()) return;
    group.has_timer = true;
    timers_->At(absl::FromUnixNanos(oldest->begun) + group.max_age,
                [self = weak_from_this(), &group, begun = oldest->begun] {
                  if (const auto here = self.lock()) here->CancelThoseUntil(begun, group);
                });
  }

  void CancelThoseUntil(int64_t begun, Group& group) {
    MutexLock lock(&mutex_);
    group.has_timer = false;
    for (Entry& each : group.entries) {
      if (each.begun > begun) break;
      if (!each.is_cancelled) Cancel(each);
    }
    SetTimer(group);
  }

  static void Cancel(Entry& entry) {
    entry.is_cancelled = true;
    entry.context->TryCancel();
  }

  const size_t most_strangers_;
  const size_t most_in_burst_;
  TimerThread* const timers_;
  Mutex mutex_;
  Group known_ ABSL_GUARDED_BY(mutex_){.max_age = kMaxAge, .entries = {}};
  Group strangers_ ABSL_GUARDED_BY(mutex_){.max_age = kMaxAgeUnauthenticated, .entries = {}};
};

}  // namespace callslip::tracker::internal
