#ifndef CALLSLIP_GATEWAY_JSON_HEALTH_JSON_H_
#define CALLSLIP_GATEWAY_JSON_HEALTH_JSON_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "callslip/tracker/v1/admin_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// How gateway and tracker do, for administrators: docs/operations.md, "Health in one view". That
// the tracker does not answer is told, not an error. `uptime` is the gateway's.
Json HealthJson(const absl::StatusOr<callslip::tracker::v1::GetHealthResponse>& tracker,
                absl::Duration uptime);

// What the tracker did lately, as GET /api/stats/history tells it: docs/http.md.
Json HistoryJson(const callslip::tracker::v1::GetHealthResponse& health);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_HEALTH_JSON_H_
