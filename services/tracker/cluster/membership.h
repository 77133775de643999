#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "tracker/cluster/cell_store.h"
#include "tracker/cluster/ownership.h"
#include "tracker/domain/journal/output_gate.h"

namespace callslip::tracker {

// The membership of one process in the group that can own a cell: beats, or checks the owner, on
// its own thread. Thread-safe.
class Membership {
 public:
  // Calls `on_lost` on that thread when another process has taken over the cell from this one: the
  // state of this process is then obsolete. `clock` must outlive this.
  Membership(Clock* clock, std::unique_ptr<CellStore> store, const std::string& name,
             std::function<void()> on_lost);
  // Gives up the cell if this process owns it. Nothing must be written after that.
  ~Membership();

  // The epoch under which this process can write; nullopt while it does not own the cell.
  std::optional<uint64_t> epoch() const;
  // Whether this process can answer callers.
  bool MayAnswer() const {
    return clock_->Now() <
           absl::FromUnixNanos(answers_until_nanos_.load(std::memory_order_acquire));
  }
  // See CellStore.
  bool has_copy() const { return store_->has_copy(); }
  // The owner as last seen; empty if there is none.
  std::string owner() const;

 private:
  void Run();
  void Note();

  Clock* const clock_;
  const std::unique_ptr<CellStore> store_;
  const std::function<void()> on_lost_;
  const std::unique_ptr<Sleeper> sleeper_;
  Ownership ownership_;  // Used by the thread only.
  std::atomic<int64_t> answers_until_nanos_{0};
  std::atomic<uint64_t> epoch_{0};  // 0: not the owner.
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  std::string owner_ ABSL_GUARDED_BY(mutex_);
  std::string trouble_ ABSL_GUARDED_BY(mutex_);  // The last one logged.
  std::thread thread_;
};

// Passes outputs on to the gate behind it, or lets them leave if there is none, while this process
// can answer; otherwise rejects them. Both must outlive it.
class LeasedGate final : public OutputGate {
 public:
  LeasedGate(const Membership* membership, OutputGate* behind)
      : membership_(membership), behind_(behind) {}

  bool IsOpen() const override {
    return membership_->MayAnswer() && (behind_ == nullptr || behind_->IsOpen());
  }
  void Pass(Output output) override;
  void BeginBatch() override {
    if (behind_ != nullptr) behind_->BeginBatch();
  }
  void EndBatch() override {
    if (behind_ != nullptr) behind_->EndBatch();
  }

 private:
  const Membership* const membership_;
  OutputGate* const behind_;
};

}  // namespace callslip::tracker
