#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "tracker/domain/journal/journal.h"

namespace callslip::tracker {

// A storage scripted by a test. Thread-safe. Test code only.
class ScriptedStorage final : public JournalStorage {
 public:
  uint64_t position() const override { return position_; }

  absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) override {
    MutexLock lock(&mutex_);
    ++tries_;
    changed_.NotifyAll();
    while (blocked_) changed_.Wait(&mutex_);
    if (!error_.ok()) return error_;
    if (--room_ < 0) return absl::UnavailableError("there is no room");
    if (position != position_) return absl::FailedPreconditionError("another writer");
    ++position_;
    for (const JournalEntry& entry : entries) sequences_.push_back(entry.sequence);
    return absl::OkStatus();
  }

  bool HasRoom() override {
    MutexLock lock(&mutex_);
    return room_ > 0;
  }

  absl::StatusOr<Summary> Summarize() override { return Summary{}; }
  absl::Status Replay(const ClocksOf&, const std::function<void(JournalEntry)>&) override {
    return absl::OkStatus();
  }

  // Allows that many appends; later ones fail.
  void GiveRoom(int appends) {
    MutexLock lock(&mutex_);
    room_ = appends;
  }

  // Blocks appends until Unblock().
  void Block() {
    MutexLock lock(&mutex_);
    blocked_ = true;
  }
  void Unblock() {
    MutexLock lock(&mutex_);
    blocked_ = false;
    changed_.NotifyAll();
  }
  void FailWith(absl::Status error) {
    MutexLock lock(&mutex_);
    error_ = std::move(error);
  }
  // Also fails the blocked appends.
  void UnblockWith(absl::Status error) {
    FailWith(std::move(error));
    Unblock();
  }
  int tries() {
    MutexLock lock(&mutex_);
    return tries_;
  }
  void AwaitTries(int tries) {
    MutexLock lock(&mutex_);
    while (tries_ < tries) changed_.Wait(&mutex_);
  }
  std::vector<uint64_t> sequences() {
    MutexLock lock(&mutex_);
    return sequences_;
  }

 private:
  std::atomic<uint64_t> position_{0};
  Mutex mutex_;
  CondVar changed_;
  int tries_ ABSL_GUARDED_BY(mutex_) = 0;
  int room_ ABSL_GUARDED_BY(mutex_) = 1'000'000;
  bool blocked_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> sequences_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
