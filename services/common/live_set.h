#pragma once

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"

namespace callslip {

// A set of entries, each of which exists as long as its Place: a member of the object that the
// entry describes. A list of weak pointers would also work, but would keep the memory of objects
// made by std::make_shared until the list is swept.
//
// Thread-safe. A Place may outlive the set.
template <typename Entry>
class LiveSet {
  struct State {
    Mutex mutex;
    std::list<Entry> entries ABSL_GUARDED_BY(mutex);
  };

 public:
  // Removes its entry when destroyed. A moved-from or default-constructed Place has no entry.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept : state_(std::move(other.state_)), at_(other.at_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(state_, other.state_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Place() {
      if (state_ == nullptr) return;
      std::list<Entry> gone;  // Destroyed without the mutex: its destructor can do anything.
      MutexLock lock(&state_->mutex);
      gone.splice(gone.begin(), state_->entries, at_);
    }

   private:
    friend class LiveSet;
    Place(std::shared_ptr<State> state, typename std::list<Entry>::iterator at)
        : state_(std::move(state)), at_(at) {}

    std::shared_ptr<State> state_;
    typename std::list<Entry>::iterator at_;
  };

  [[nodiscard]] Place Add(Entry entry) {
    std::list<Entry> added;
    added.push_back(std::move(entry));
    const auto at = added.begin();
    MutexLock lock(&state_->mutex);
    state_->entries.splice(state_->entries.end(), added);
    return Place(state_, at);
  }

  // The current entries, the oldest first.
  std::vector<Entry> Entries() const {
    MutexLock lock(&state_->mutex);
    return {state_->entries.begin(), state_->entries.end()};
  }

 private:
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace callslip
