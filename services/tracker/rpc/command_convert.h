#ifndef CALLSLIP_TRACKER_RPC_COMMAND_CONVERT_H_
#define CALLSLIP_TRACKER_RPC_COMMAND_CONVERT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/command.pb.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "tracker/domain/command/command_table.h"

// Between the messages of callslip.tracker.v1 and the domain's types, and nothing else. What a
// message cannot express is INVALID_ARGUMENT; bounds are the domain's business.
namespace callslip::tracker {

// How much of a command a message carries.
enum class CommandView {
  kFull,
  kWithoutParams,    // For its client, which sent them.
  kWithoutPayloads,  // For lists.
};

v1::Command ToProto(const CommandSnapshot& command, CommandView view);
v1::CommandState ToProto(CommandState state);
v1::CommandLease ToProto(const CommandLease& lease);

absl::StatusOr<CommandSpec> SpecFrom(const v1::RegisterCommandRequest& request);
absl::StatusOr<CommandFilter> FilterFrom(const v1::ListCommandsRequest& request);
absl::StatusOr<CommandOutcome> OutcomeFrom(const v1::CompleteCommandRequest& request);
std::optional<CommandProgress> ProgressFrom(const v1::AcknowledgeCommandRequest& request);
// Zero where it is absent.
absl::StatusOr<absl::Duration> DurationFrom(absl::string_view field,
                                            const google::protobuf::Duration& duration);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_COMMAND_CONVERT_H_
