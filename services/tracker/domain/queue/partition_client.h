#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_PARTITION_CLIENT_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_PARTITION_CLIENT_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "boost/intrusive/list.hpp"
#include "tracker/domain/command/command_state.h"
#include "tracker/domain/queue/client_account.h"
#include "tracker/domain/queue/command_entry.h"

namespace callslip::tracker {

// The commands of one client in one partition, by how they stand: so that a look at a few of one
// sort costs the same however many there are of the others. Guarded by the partition's mutex.
class PartitionClient {
 public:
  // In the order of registration. No tree, as most commands leave it soon.
  using Unfinished = boost::intrusive::list<
      CommandEntry,
      boost::intrusive::member_hook<CommandEntry, boost::intrusive::list_member_hook<>,
                                    &CommandEntry::unfinished_hook>,
      boost::intrusive::constant_time_size<false>>;

  explicit PartitionClient(std::shared_ptr<ClientAccount> of) : account(std::move(of)) {}

  const std::shared_ptr<ClientAccount> account;

  bool empty() const { return unfinished_.empty() && completed_.empty() && failed_.empty(); }
  const Unfinished& unfinished() const { return unfinished_; }

  // One with the highest sequence so far.
  void Add(CommandEntry& entry) {
    if (IsTerminal(entry.view->state)) {
      AddEnded(entry);
    } else {
      unfinished_.push_back(entry);
    }
  }
  // It was in the state `before`.
  void Moved(CommandEntry& entry, CommandState before) {
    if (GroupOf(entry.view->state) == GroupOf(before)) return;
    Remove(entry, before);
    AddEnded(entry);
  }
  void Remove(CommandEntry& entry, CommandState state) {
    if (!IsTerminal(state)) {
      unfinished_.erase(unfinished_.iterator_to(entry));
    } else {
      EndedIn(state).erase(entry.spec().sequence);
    }
  }

  // Of each group that has a state for which `wanted(state)` is true: the newest below a sequence,
  // newest first, until `take(entry)` has been true `limit` times.
  template <typename Wanted, typename Take>
  void TakeNewest(uint64_t below, int limit, Wanted wanted, Take take) const {
    if (AnyIn(CommandGroup::kUnfinished, wanted)) {
      int left = limit;
      for (auto entry = unfinished_.rbegin(); entry != unfinished_.rend() && left > 0; ++entry) {
        if (entry->spec().sequence < below && take(*entry)) --left;
      }
    }
    if (AnyIn(CommandGroup::kCompleted, wanted)) TakeNewestOf(completed_, below, limit, take);
    if (AnyIn(CommandGroup::kFailed, wanted)) TakeNewestOf(failed_, below, limit, take);
  }
  // All of them, in no order, while `visit` returns true; false once it has not.
  template <typename Visit>
  bool ForEach(Visit visit) const {
    const auto visit_ended = [&](const auto& ended) { return visit(*ended.second); };
    return absl::c_all_of(unfinished_, visit) && absl::c_all_of(completed_, visit_ended) &&
           absl::c_all_of(failed_, visit_ended);
  }

 private:
  using Ended = absl::btree_map<uint64_t, CommandEntry*>;  // By sequence.

  template <typename Wanted>
  static bool AnyIn(CommandGroup group, Wanted wanted) {
    for (int state = 0; state < kCommandStateCount; ++state) {
      const auto each = static_cast<CommandState>(state);
      if (GroupOf(each) == group && wanted(each)) return true;
    }
    return false;
  }
  template <typename Take>
  static void TakeNewestOf(const Ended& ended, uint64_t below, int limit, Take& take) {
    for (auto next = ended.lower_bound(below); next != ended.begin() && limit > 0;) {
      --next;
      if (take(*next->second)) --limit;
    }
  }

  Ended& EndedIn(CommandState state) {
    return state == CommandState::kCompleted ? completed_ : failed_;
  }
  // They end about as they were registered.
  void AddEnded(CommandEntry& entry) {
    Ended& ended = EndedIn(entry.view->state);
    ended.emplace_hint(ended.end(), entry.spec().sequence, &entry);
  }

  Unfinished unfinished_;
  Ended completed_;
  Ended failed_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_PARTITION_CLIENT_H_
