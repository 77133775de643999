#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runner/acp/message.h"
#include "runner/acp/peer.h"

// Parameters of the agents' calls to the runner, and error answers to these calls.
namespace callslip::runner {

// INVALID_ARGUMENT if missing or not a string.
absl::StatusOr<std::string> TextParam(const Json& params, absl::string_view name);

// Returns nullopt if missing or null. INVALID_ARGUMENT if it is not an integer of at least `least`.
absl::StatusOr<std::optional<int64_t>> NumberParam(const Json& params, absl::string_view name,
                                                   int64_t least);

// -32002 for NOT_FOUND, -32602 for a call that cannot be done as requested, -32603 otherwise;
// always with the message of `status`.
RpcAnswer ErrorAnswer(const absl::Status& status);

}  // namespace callslip::runner
