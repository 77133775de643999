#ifndef CALLSLIP_TRACKER_SERVER_AWAITED_REQUESTS_H_
#define CALLSLIP_TRACKER_SERVER_AWAITED_REQUESTS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <utility>

#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"

namespace callslip::tracker::internal {

// The calls of one queue whose callers were let in, and whose requests have not come whole yet. Of
// each of these gRPC may hold almost a whole message. Used by the thread that polls the queue.
class AwaitedRequests {
 public:
  // A request that takes longer is cancelled when the next call comes.
  static constexpr absl::Duration kMaxAge = absl::Seconds(30);
  // The same of callers who have not shown who they are, whose requests are packets.
  static constexpr absl::Duration kMaxAgeUnauthenticated = absl::Seconds(5);
  // How many of these may wait at a time, on all queues: beyond it those are cancelled that have
  // waited for longest. Of a burst, as it comes, more may: their packets are under way.
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
  // Takes its entry along when it goes. Made by default it has none.
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

  // For one of so many queues.
  explicit AwaitedRequests(size_t queues)
      : most_strangers_(kStrangers / queues), most_in_burst_(kStrangersInBurst / queues) {}

  // From now on. `context`, of a call that has begun at `begun`, lives longer than what is
  // returned.
  [[nodiscard]] Place Add(grpc::ServerContext* context, int64_t begun, bool is_stranger) {
    CancelThoseBefore(begun - absl::ToInt64Nanoseconds(kMaxAge), known_);
    CancelThoseBefore(begun - absl::ToInt64Nanoseconds(kMaxAgeUnauthenticated), strangers_);
    Entries& entries = is_stranger ? strangers_ : known_;
    entries.push_back({.context = context, .begun = begun});
    // Those that were cancelled are about to go.
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

#endif  // CALLSLIP_TRACKER_SERVER_AWAITED_REQUESTS_H_
