#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/annotation_service.pb.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// The tracker request for a body of POST /draw-mode/complete; the format: docs/workers.md. The
// content of the drawing is {"tab_id", "url", "title", "session"?, "annotations": […], "viewport"?,
// "screenshot"?, "crops_left_out"?: true, "screenshot_left_out"?: true}: the known members, with
// every text truncated to its limit. Unknown members are omitted, since all of it comes from a page
// and goes to a model.
//
// INVALID_ARGUMENT with a reason and a message that names the field.
absl::StatusOr<v1::AppendAnnotationsRequest> ParseDrawing(const std::string& body);

}  // namespace callslip::gateway
