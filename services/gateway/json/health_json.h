#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "callslip/tracker/v1/admin_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// The health of gateway and tracker, for administrators: docs/operations.md, "Health in one view".
// An unreachable tracker is reported in it, and is not an error. `uptime` is the gateway's.
Json HealthJson(const absl::StatusOr<callslip::tracker::v1::GetHealthResponse>& tracker,
                absl::Duration uptime);

// The tracker's recent activity, as returned by GET /api/stats/history: docs/http.md.
Json HistoryJson(const callslip::tracker::v1::GetHealthResponse& health);

}  // namespace callslip::gateway
