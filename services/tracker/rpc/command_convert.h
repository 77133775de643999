#ifndef CALLSLIP_TRACKER_RPC_COMMAND_CONVERT_H_
#define CALLSLIP_TRACKER_RPC_COMMAND_CONVERT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "callslip/tracker/v1/command.pb.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/server/call_context.h"

// Between the messages of callslip.tracker.v1 and the domain's types, and nothing else. What a
// message cannot express is INVALID_ARGUMENT; bounds are the domain's business.
namespace callslip::tracker {

// How much of a command a message carries.
enum class CommandView {
  kFull,
  kWithoutParams,    // For its client, which sent them.
  kWithoutPayloads,  // For lists.
};

// Messages are filled in where they are, which may be an arena.
v1::CommandState ToProto(CommandState state);
void Fill(const CommandSnapshot& command, CommandView view, v1::Command& message);
void Fill(const CommandLease& lease, v1::CommandLease& message);
void Fill(const CommandUpdate& update, CommandView view, v1::CommandUpdate& message);
void Fill(const absl::Status& error, v1::WatchError& message);

absl::StatusOr<CommandRequest> RequestFrom(const CallContext& caller,
                                           const v1::RegisterCommandRequest& request);
absl::StatusOr<CommandFilter> FilterFrom(const v1::ListCommandsRequest& request);
absl::StatusOr<CommandFilter> FilterFrom(const v1::CommandFilter& filter);
// What makes no sense is as near to it as may be: no result is to be lost over it.
WorkTime WorkFrom(const v1::CompleteCommandRequest& request);
absl::StatusOr<CommandOutcome> OutcomeFrom(const v1::CompleteCommandRequest& request);
std::optional<CommandProgress> ProgressFrom(const v1::AcknowledgeCommandRequest& request);
LeaseProof ProofFrom(const std::string& lease_token, int attempt);
// Of a report about a command, as the caller may make it.
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

// When a wait of `max_wait`, called such in errors, is over: INVALID_ARGUMENT unless it is from 0
// to `longest`. A wait that is absent or zero means `by_default`.
absl::StatusOr<absl::Time> WaitUntil(const google::protobuf::Duration& max_wait,
                                     absl::Duration longest, absl::Duration by_default,
                                     absl::Time now);

// Zero where it is absent.
absl::StatusOr<absl::Duration> BackWithinFrom(const google::protobuf::Duration& back_within);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_COMMAND_CONVERT_H_
