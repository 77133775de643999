#ifndef CALLSLIP_TRACKER_METRICS_TRACKER_METRICS_H_
#define CALLSLIP_TRACKER_METRICS_TRACKER_METRICS_H_

#include <cstdint>

#include "common/metrics.h"
#include "tracker/metrics/memory_budget.h"
#include "tracker/metrics/tracker_statistics.h"

namespace callslip::tracker {

// What the tracker's GET /metrics tells; docs/operations.md lists it. Fewer than 2,000 series,
// however many clients, targets and workers there are.
void AddMetrics(const TrackerStatistics& statistics, MetricsPage& page);

// How a tracker stands to the cell that it shares with others.
struct CellStatistics {
  bool may_answer = false;  // It has the cell, and the database says so.
  uint64_t epoch = 0;       // Of the one that has it; 0 where it is not this tracker.
  bool has_copy = true;     // See CellStore.
};
void AddCell(const CellStatistics& cell, MetricsPage& page);

// What of it AddMemory() tells: how much tables hold. All but drawings.
MemoryUse MemoryUseOf(const TrackerStatistics& statistics);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_METRICS_TRACKER_METRICS_H_
