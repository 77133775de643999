#ifndef CALLSLIP_RUNNER_CLIENT_CLIENT_PARAMS_H_
#define CALLSLIP_RUNNER_CLIENT_CLIENT_PARAMS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runner/acp/message.h"
#include "runner/acp/peer.h"

// What agents send with a call to the runner, and how they are told that it failed.
namespace callslip::runner {

// INVALID_ARGUMENT where it is missing or no text.
absl::StatusOr<std::string> TextParam(const Json& params, absl::string_view name);

// Nothing where it is missing or null. INVALID_ARGUMENT where it is no whole number from `least`
// on.
absl::StatusOr<std::optional<int64_t>> NumberParam(const Json& params, absl::string_view name,
                                                   int64_t least);

// -32002 for what is not there, -32602 for what could not be done as it was asked for, -32603 for
// all else; always with the status' message.
RpcAnswer ErrorAnswer(const absl::Status& status);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_CLIENT_CLIENT_PARAMS_H_
