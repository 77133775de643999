#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/worker_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// The tracker request for a body of POST /worker-status. INVALID_ARGUMENT with a reason and a
// message that names the field. Unknown fields are ignored.
absl::StatusOr<v1::ReportWorkerRequest> ParseWorkerStatus(const std::string& body);

// `tabs` in the tracker's format: the tab_id, window_id, active, title and url of each object in
// the array, with long texts truncated; no more tabs than the tracker accepts.
std::string KeptTabs(const Json& tabs);

}  // namespace callslip::gateway
