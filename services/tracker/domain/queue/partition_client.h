#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "boost/intrusive/list.hpp"
#include "tracker/domain/command/command_state.h"
#include "tracker/domain/queue/client_account.h"
#include "tracker/domain/queue/command_entry.h"

namespace callslip::tracker {

// The commands of one client in one partition, by state and by label, so that reading a few of one
// sort costs the same however many there are of the others. Guarded by the partition's mutex.
class PartitionClient {
 public:
  // In the order of registration. Not a tree, because most commands leave it soon.
  using Unfinished = boost::intrusive::list<
      CommandEntry,
      boost::intrusive::member_hook<CommandEntry, boost::intrusive::list_member_hook<>,
                                    &CommandEntry::unfinished_hook>,
      boost::intrusive::constant_time_size<false>>;

  explicit PartitionClient(std::shared_ptr<ClientAccount> of) : account(std::move(of)) {}

  const std::shared_ptr<ClientAccount> account;

  bool empty() const { return unfinished_.empty() && completed_.empty() && failed_.empty(); }
  const Unfinished& unfinished() const { return unfinished_; }

  // Adds a command, which must have the highest sequence so far.
  void Add(CommandEntry& entry) {
    const CommandState state = entry.view->state;
    if (IsHeld(state)) held_.push_back(entry);
    if (IsTerminal(state)) {
      AddTo(EndedIn(state), entry);
    } else {
      unfinished_.push_back(entry);
    }
    if (!entry.spec().label().empty()) AddToLabel(entry, state);
  }
  // The command's state was `before`.
  void Moved(CommandEntry& entry, CommandState before) {
    const CommandState now = entry.view->state;
    if (SortOf(now) == SortOf(before)) return;
    if (IsHeld(before)) held_.erase(held_.iterator_to(entry));
    if (IsHeld(now)) held_.push_back(entry);
    if (GroupOf(now) != GroupOf(before)) {
      RemoveFromGroup(entry, before);
      AddTo(EndedIn(now), entry);
    }
    if (entry.spec().label().empty()) return;
    RemoveFromLabel(entry, before);
    AddToLabel(entry, now);
  }
  void Remove(CommandEntry& entry, CommandState state) {
    if (IsHeld(state)) held_.erase(held_.iterator_to(entry));
    RemoveFromGroup(entry, state);
    if (!entry.spec().label().empty()) RemoveFromLabel(entry, state);
  }

  // Passes commands with a sequence below `below` to `take(entry)`, newest first within each sort,
  // until it has returned true `limit` times for that sort. Selects by the label and the states of
  // `filter`, but also passes some that do not match, which `take` can refuse by returning false.
  template <typename Take>
  void TakeNewest(const CommandFilter& filter, uint64_t below, int limit, Take take) const {
    if (!filter.label.empty()) {
      const auto label = labels_.find(filter.label);
      if (label == labels_.end()) return;
      for (size_t sort = 0; sort < kSorts; ++sort) {
        if (Wants(filter, sort)) TakeNewestOf((*label->second)[sort], below, limit, take);
      }
      return;
    }
    if (Wants(filter, kQueued)) {
      int left = limit;
      for (auto entry = unfinished_.rbegin(); entry != unfinished_.rend() && left > 0; ++entry) {
        if (entry->spec().sequence < below && take(*entry)) --left;
      }
    } else if (Wants(filter, kHeld)) {
      TakeNewestOf(HeldInOrder(), below, limit, take);
    }
    if (Wants(filter, kCompleted)) TakeNewestOf(completed_, below, limit, take);
    if (Wants(filter, kFailed)) TakeNewestOf(failed_, below, limit, take);
  }

  // Passes all commands that match the label and a state of `filter`, and maybe others, to `visit`,
  // in no order, while it returns true. Returns whether it always did.
  template <typename Visit>
  bool ForEach(const CommandFilter& filter, Visit visit) const {
    bool goes_on = true;
    constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
    TakeNewest(filter, kAny, std::numeric_limits<int>::max(), [&](const CommandEntry& entry) {
      goes_on = goes_on && visit(entry);
      return goes_on;
    });
    return goes_on;
  }

 private:
  using BySequence = absl::btree_map<uint64_t, const CommandEntry*>;
  using Held = boost::intrusive::list<
      CommandEntry,
      boost::intrusive::member_hook<CommandEntry, boost::intrusive::list_member_hook<>,
                                    &CommandEntry::held_hook>,
      boost::intrusive::constant_time_size<false>>;

  // The sorts that are stored separately.
  enum Sort : size_t { kQueued, kHeld, kCompleted, kFailed, kSorts };
  using Labelled = std::array<BySequence, kSorts>;

  static Sort SortOf(CommandState state) {
    if (IsHeld(state)) return kHeld;
    switch (GroupOf(state)) {
      case CommandGroup::kUnfinished: return kQueued;
      case CommandGroup::kCompleted: return kCompleted;
      case CommandGroup::kFailed: return kFailed;
    }
    return kFailed;
  }
  static bool Wants(const CommandFilter& filter, size_t sort) {
    return filter.states.empty() ||
           absl::c_any_of(filter.states, [&](CommandState state) { return SortOf(state) == sort; });
  }
  template <typename Take>
  static void TakeNewestOf(const BySequence& entries, uint64_t below, int limit, Take& take) {
    for (auto next = entries.lower_bound(below); next != entries.begin() && limit > 0;) {
      --next;
      if (take(*next->second)) --limit;
    }
  }
  // Cheap, because workers hold few commands.
  BySequence HeldInOrder() const {
    BySequence entries;
    for (const CommandEntry& entry : held_) {
      entries.emplace(entry.spec().sequence, &entry);
    }
    return entries;
  }

  BySequence& EndedIn(CommandState state) {
    return state == CommandState::kCompleted ? completed_ : failed_;
  }
  // Commands arrive roughly in the order of registration.
  static void AddTo(BySequence& entries, const CommandEntry& entry) {
    entries.emplace_hint(entries.end(), entry.spec().sequence, &entry);
  }
  void RemoveFromGroup(CommandEntry& entry, CommandState state) {
    if (IsTerminal(state)) {
      EndedIn(state).erase(entry.spec().sequence);
    } else {
      unfinished_.erase(unfinished_.iterator_to(entry));
    }
  }
  // For a command that has a label.
  void AddToLabel(CommandEntry& entry, CommandState state) {
    std::unique_ptr<Labelled>& label = labels_[entry.spec().label()];
    if (label == nullptr) label = std::make_unique<Labelled>();
    AddTo((*label)[SortOf(state)], entry);
  }
  void RemoveFromLabel(CommandEntry& entry, CommandState state) {
    const auto label = labels_.find(entry.spec().label());
    (*label->second)[SortOf(state)].erase(entry.spec().sequence);
    const bool is_empty =
        absl::c_all_of(*label->second, [](const auto& entries) { return entries.empty(); });
    if (is_empty) labels_.erase(label);
  }

  Unfinished unfinished_;
  Held held_;  // Of these, the ones that a worker holds.
  BySequence completed_;
  BySequence failed_;
  // For each label that any of them has.
  absl::flat_hash_map<std::string, std::unique_ptr<Labelled>> labels_;
};

}  // namespace callslip::tracker
