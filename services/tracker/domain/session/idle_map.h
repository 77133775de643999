#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip::tracker {

// Up to `limit` values by name, each kept until it was not used for `idle`. Not thread-safe. A
// returned pointer is valid until the next call.
template <typename T>
class IdleMap {
 public:
  IdleMap(size_t limit, absl::Duration idle) : limit_(limit), idle_(idle) {}

  // Null if there is none.
  T* Use(absl::string_view name, absl::Time now) {
    DropIdle(now);
    const auto found = places_.find(name);
    if (found == places_.end()) return nullptr;
    uses_.splice(uses_.begin(), uses_, found->second);
    found->second->used_at = now;
    return &found->second->value;
  }

  // The same, but does not count as a use. Can return a value that is about to be dropped.
  const T* Peek(absl::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &found->second->value;
  }

  // Adds a value under a name that has none. Null if the limit is reached.
  T* Add(std::string name, T value, absl::Time now) {
    DropIdle(now);
    if (uses_.size() >= limit_) return nullptr;
    uses_.push_front({name, now, std::move(value)});
    places_.emplace(std::move(name), uses_.begin());
    return &uses_.front().value;
  }

  // Calls `look` with each value.
  template <typename Look>
  void ForEach(absl::Time now, Look look) {
    DropIdle(now);
    for (const Entry& entry : uses_) look(entry.value);
  }

  // Removes the least recently used of the values for which `may_go` returns true.
  template <typename MayGo>
  void RemoveOldest(MayGo may_go) {
    for (auto entry = uses_.rbegin(); entry != uses_.rend(); ++entry) {
      if (may_go(entry->value)) return Remove(std::string(entry->name));
    }
  }

  // Harmless if there is none.
  void Remove(absl::string_view name) {
    const auto found = places_.find(name);
    if (found == places_.end()) return;
    uses_.erase(found->second);
    places_.erase(found);
  }

 private:
  struct Entry {
    std::string name;
    absl::Time used_at;
    T value;
  };

  void DropIdle(absl::Time now) {
    while (!uses_.empty() && uses_.back().used_at + idle_ <= now) {
      places_.erase(uses_.back().name);
      uses_.pop_back();
    }
  }

  const size_t limit_;
  const absl::Duration idle_;
  std::list<Entry> uses_;  // Most recently used first.
  absl::flat_hash_map<std::string, typename std::list<Entry>::iterator> places_;
};

}  // namespace callslip::tracker
