#ifndef CALLSLIP_COMMON_LIVE_SET_H_
#define CALLSLIP_COMMON_LIVE_SET_H_

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"

namespace callslip {

// Entries that are there for as long as their Place is, which belongs to what each is about. A list
// of weak pointers would do without, but keep the memory of what was made by std::make_shared
// after its end: until somebody sweeps.
//
// Thread-safe. A Place may outlive the set.
template <typename Entry>
class LiveSet {
  struct State {
    Mutex mutex;
    std::list<Entry> entries ABSL_GUARDED_BY(mutex);
  };

 public:
  // Takes its entry along when it goes. Moved from and made by default it has none.
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
      std::list<Entry> gone;  // Ends without the mutex: whatever it holds may do anything.
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

  // As they are now, the oldest first.
  std::vector<Entry> Entries() const {
    MutexLock lock(&state_->mutex);
    return {state_->entries.begin(), state_->entries.end()};
  }

 private:
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_LIVE_SET_H_
