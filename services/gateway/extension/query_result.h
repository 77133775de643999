#pragma once

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/command_service.pb.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// The tracker request for a body of POST /query-result.
using QueryResult = std::variant<v1::AcknowledgeCommandRequest, v1::CompleteCommandRequest>;

// INVALID_ARGUMENT with a reason and a message that names the field. Unknown fields are ignored:
// newer extensions may send more.
absl::StatusOr<QueryResult> ParseQueryResult(const std::string& body);

}  // namespace callslip::gateway
