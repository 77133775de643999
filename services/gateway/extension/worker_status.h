#ifndef CALLSLIP_GATEWAY_EXTENSION_WORKER_STATUS_H_
#define CALLSLIP_GATEWAY_EXTENSION_WORKER_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/worker_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// What a body of POST /worker-status asks of the tracker. INVALID_ARGUMENT with a reason and a
// message that names the field. Fields that are not known are ignored.
absl::StatusOr<v1::ReportWorkerRequest> ParseWorkerStatus(const std::string& body);

// `tabs` as the tracker keeps them: of each object in the array its tab_id, window_id, active,
// title and url, with long texts cut; and no more of them than the tracker takes.
std::string KeptTabs(const Json& tabs);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_EXTENSION_WORKER_STATUS_H_
