#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "callslip/tracker/v1/command.pb.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/server/call_context.h"

// Conversions between the messages of callslip.tracker.v1 and the domain's types, and nothing else.
// Values that the domain cannot represent are INVALID_ARGUMENT; the domain checks limits.
namespace callslip::tracker {

// The parts of a command that a message contains.
enum class CommandView {
  kFull,
  kWithoutParams,    // For its client, which sent the params.
  kWithoutPayloads,  // For lists.
};

// Fills in messages in place, because they may be in an arena.
v1::CommandState ToProto(CommandState state);
void Fill(const CommandSnapshot& command, CommandView view, v1::Command& message);
void Fill(const CommandLease& lease, v1::CommandLease& message);
void Fill(const CommandUpdate& update, CommandView view, v1::CommandUpdate& message);
void Fill(const absl::Status& error, v1::WatchError& message);

absl::StatusOr<CommandRequest> RequestFrom(const CallContext& caller,
                                           const v1::RegisterCommandRequest& request);
absl::StatusOr<CommandFilter> FilterFrom(const v1::ListCommandsRequest& request);
absl::StatusOr<CommandFilter> FilterFrom(const v1::CommandFilter& filter);
// Clamps invalid times to the nearest valid value: no result may be lost because of them.
WorkTime WorkFrom(const v1::CompleteCommandRequest& request);
absl::StatusOr<CommandOutcome> OutcomeFrom(const v1::CompleteCommandRequest& request);
std::optional<CommandProgress> ProgressFrom(const v1::AcknowledgeCommandRequest& request);
LeaseProof ProofFrom(const std::string& lease_token, int attempt);
// For a report about a command, with the clients that the caller serves.
template <typename Request>
LeaseProof ProofFrom(const CallContext& caller, const Request& request) {
  LeaseProof proof = ProofFrom(request.lease_token(), request.attempt());
  proof.clients = caller.Serves();
  return proof;
}
LeaseProofs ProofsFrom(bool without_proof);
absl::StatusOr<KnownDeliveries> KnownFrom(const v1::LeaseCommandsRequest& request);
CommandError ErrorFrom(const v1::CommandError& error);
Payload ContextFrom(const std::string& context);

// The end of a wait of `max_wait` (the field's name in errors). INVALID_ARGUMENT unless it is from
// 0 to `longest`. An absent or zero wait means `by_default`.
absl::StatusOr<absl::Time> WaitUntil(const google::protobuf::Duration& max_wait,
                                     absl::Duration longest, absl::Duration by_default,
                                     absl::Time now);

}  // namespace callslip::tracker
