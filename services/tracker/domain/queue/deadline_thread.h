#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "absl/time/time.h"
#include "common/clock.h"
#include "tracker/domain/queue/command_table.h"

namespace callslip::tracker {

// Fires the deadlines of a command table when they come: sleeps until the earliest one, and is
// woken only when an earlier one is added. The constructor sets the table's DeadlineListener, so it
// must run before the table is shared. Must be destroyed before the table.
class DeadlineThread {
 public:
  DeadlineThread(Clock* clock, CommandTable* table);
  ~DeadlineThread();

 private:
  void Run();
  void Arm(absl::Time deadline);

  Clock* const clock_;
  CommandTable* const table_;
  const std::unique_ptr<Sleeper> sleeper_;
  // Until when the thread sleeps, in Unix nanoseconds; the largest value while it is awake and may
  // have missed a new deadline.
  std::atomic<int64_t> asleep_until_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace callslip::tracker
