#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <utility>

#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"

namespace callslip::tracker::internal {

// The calls of one queue that were accepted, but whose requests are still incomplete. gRPC can hold
// almost a whole message for each. Used by the thread that polls the queue.
class AwaitedRequests {
 public:
  // A request that takes longer is cancelled when the next call arrives.
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
  using Entries = std::list<Entry>;

 public:
  // Removes its entry when destroyed. A default-constructed Place has no entry.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : entries_(std::exchange(other.entries_, nullptr)), at_(other.at_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(entries_, other.entries_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Place() {
      if (entries_ != nullptr) entries_->erase(at_);
    }

   private:
    friend class AwaitedRequests;
    Place(Entries* entries, Entries::iterator at) : entries_(entries), at_(at) {}

    Entries* entries_ = nullptr;
    Entries::iterator at_;
  };

  // `queues` is the total number of queues.
  explicit AwaitedRequests(size_t queues)
      : most_strangers_(kStrangers / queues), most_in_burst_(kStrangersInBurst / queues) {}

  // Adds a call that began at `begun`. `context` must outlive the returned Place.
  [[nodiscard]] Place Add(grpc::ServerContext* context, int64_t begun, bool is_stranger) {
    CancelThoseBefore(begun - absl::ToInt64Nanoseconds(kMaxAge), known_);
    CancelThoseBefore(begun - absl::ToInt64Nanoseconds(kMaxAgeUnauthenticated), strangers_);
    Entries& entries = is_stranger ? strangers_ : known_;
    entries.push_back({.context = context, .begun = begun});
    // Cancelled entries are about to be removed.
    size_t waiting = 0;
    const int64_t burst = begun - absl::ToInt64Nanoseconds(kBurst);
    for (auto each = strangers_.rbegin(); each != strangers_.rend(); ++each) {
      if (each->is_cancelled) continue;
      ++waiting;
      const size_t most = each->begun < burst ? most_strangers_ : most_in_burst_;
      if (waiting > most) Cancel(*each);
    }
    return Place(&entries, std::prev(entries.end()));
  }

 private:
  static void CancelThoseBefore(int64_t time, Entries& entries) {
    for (Entry& each : entries) {
      if (each.begun >= time) return;
      if (!each.is_cancelled) Cancel(each);
    }
  }

  static void Cancel(Entry& entry) {
    entry.is_cancelled = true;
    entry.context->TryCancel();
  }

  const size_t most_strangers_;
  const size_t most_in_burst_;
  Entries known_;  // The oldest first.
  Entries strangers_;
};

}  // namespace callslip::tracker::internal
