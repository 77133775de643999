#ifndef CALLSLIP_TRACKER_METRICS_TRACKER_METRICS_H_
#define CALLSLIP_TRACKER_METRICS_TRACKER_METRICS_H_

#include "common/metrics.h"
#include "tracker/metrics/memory_budget.h"
#include "tracker/metrics/tracker_statistics.h"

namespace callslip::tracker {

// What the tracker's GET /metrics tells; docs/operations.md lists it. Fewer than 2,000 series,
// however many clients, targets and workers there are.
void AddMetrics(const TrackerStatistics& statistics, MetricsPage& page);

// What of it AddMemory() tells: how much tables hold. All but drawings.
MemoryUse MemoryUseOf(const TrackerStatistics& statistics);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_METRICS_TRACKER_METRICS_H_
