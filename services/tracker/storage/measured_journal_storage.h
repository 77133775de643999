#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/latency_histogram.h"
#include "tracker/domain/journal/journal.h"

namespace callslip::tracker {

// The operations requested from a journal, and their outcomes.
struct JournalStatistics {
  LatencyHistogram appends;  // Including failed ones.
  int64_t entries = 0;
  int64_t failures = 0;
  absl::Time last_failure = absl::InfinitePast();
  bool failing = false;  // The last append failed.
};

// A storage of commands whose operations are counted and timed. Statistics() is thread-safe.
class MeasuredJournalStorage final : public JournalStorage {
 public:
  // `clock` must outlive this.
  MeasuredJournalStorage(Clock* clock, std::unique_ptr<JournalStorage> storage)
      : clock_(clock), storage_(std::move(storage)) {}

  uint64_t position() const override { return storage_->position(); }
  absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) override;
  bool HasRoom() override { return storage_->HasRoom(); }
  absl::StatusOr<Summary> Summarize() override { return storage_->Summarize(); }
  absl::Status Replay(const ClocksOf& clocks,
                      const std::function<void(JournalEntry)>& each) override {
    return storage_->Replay(clocks, each);
  }

  JournalStatistics Statistics() const;

 private:
  Clock* const clock_;
  const std::unique_ptr<JournalStorage> storage_;
  SharedLatencyHistogram appends_;
  std::atomic<int64_t> entries_{0};
  std::atomic<int64_t> failures_{0};
  std::atomic<int64_t> last_failure_nanos_{0};
  std::atomic<bool> failing_{false};
};

}  // namespace callslip::tracker
