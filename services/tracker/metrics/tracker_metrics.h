#pragma once

#include <cstdint>

#include "common/metrics.h"
#include "tracker/metrics/memory_budget.h"
#include "tracker/metrics/tracker_statistics.h"

namespace callslip::tracker {

// The metrics of the tracker's GET /metrics; docs/operations.md lists them. Fewer than 2,000
// series, regardless of the number of clients, targets and workers.
void AddMetrics(const TrackerStatistics& statistics, MetricsPage& page);

// The relation of a tracker to the cell that it shares with others.
struct CellStatistics {
  bool may_answer = false;  // It owns the cell, and the database confirms it.
  uint64_t epoch = 0;       // The epoch of this tracker as owner; 0 if it is not the owner.
  bool has_copy = true;     // See CellStore.
};
void AddCell(const CellStatistics& cell, MetricsPage& page);

// The numbers for AddMemory(): the current size of all tables except drawings.
MemoryUse MemoryUseOf(const TrackerStatistics& statistics);

}  // namespace callslip::tracker
