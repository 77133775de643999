#include "tracker/rpc/command_convert.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

void SetTime(absl::Time time, google::protobuf::Timestamp* (v1::Command::*mutable_field)(),
             v1::Command& command) {
  if (time == absl::InfinitePast()) return;
  const int64_t nanos = absl::ToUnixNanos(time);
  google::protobuf::Timestamp& timestamp = *(command.*mutable_field)();
  timestamp.set_seconds(nanos / 1'000'000'000);
  timestamp.set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
}

std::string BytesOf(const Payload& payload) { return payload == nullptr ? "" : *payload; }

Payload PayloadOf(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

absl::string_view StageName(TraceEntry::Stage stage) {
  switch (stage) {
    case TraceEntry::Stage::kQueued:
      return "queued";
    case TraceEntry::Stage::kSent:
      return "sent";
    case TraceEntry::Stage::kStarted:
      return "started";
    case TraceEntry::Stage::kReturned:
      return "returned";
    case TraceEntry::Stage::kResolved:
      return "resolved";
    case TraceEntry::Stage::kLateResult:
      return "late_result";
  }
  return "";
}

absl::string_view SourceName(TraceEntry::Source source) {
  switch (source) {
    case TraceEntry::Source::kClient:
      return "client";
    case TraceEntry::Source::kWorker:
      return "worker";
    case TraceEntry::Source::kTracker:
      return "tracker";
  }
  return "";
}

CommandError ErrorFrom(const v1::CommandError& error) {
  return {error.code(), error.message(),
          error.hint(),  // What a worker does not rule out may be so.
          error.has_may_have_executed() ? error.may_have_executed() : true};
}

absl::StatusOr<CommandState> StateFrom(int state) {
  if (state < v1::COMMAND_STATE_QUEUED || state > v1::COMMAND_STATE_CANCELLED) {
    return InvalidField("states", "has a value that is no state");
  }
  return static_cast<CommandState>(state - v1::COMMAND_STATE_QUEUED);
}

void AddTrace(const CommandSnapshot& command, v1::Command& message) {
  for (const TraceEntry& entry : command.trace) {
    v1::TraceEntry& added = *message.add_trace();
    added.set_stage(std::string(StageName(entry.stage)));
    added.set_source(std::string(SourceName(entry.source)));
    const int64_t nanos = absl::ToUnixNanos(entry.time);
    added.mutable_time()->set_seconds(nanos / 1'000'000'000);
    added.mutable_time()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  }
}

}  // namespace

v1::CommandState ToProto(CommandState state) {
  return static_cast<v1::CommandState>(static_cast<int>(state) + v1::COMMAND_STATE_QUEUED);
}

v1::Command ToProto(const CommandSnapshot& command, CommandView view) {
  const CommandSpec& spec = *command.spec;
  v1::Command message;
  message.set_command_id(spec.id);
  message.set_client_id(spec.client_id);
  message.set_target(spec.target);
  message.set_type(spec.type);
  if (view == CommandView::kFull) message.set_params(*spec.params);
  message.set_request_id(spec.request_id);
  message.set_label(spec.label);
  message.set_command_class(spec.command_class == CommandClass::kHuman
                                ? v1::COMMAND_CLASS_HUMAN
                                : v1::COMMAND_CLASS_STANDARD);
  message.set_state(ToProto(command.state));
  message.set_revision(command.revision);
  message.set_attempt(command.attempt);
  if (command.progress.has_value()) {
    message.mutable_progress()->set_fraction(command.progress->fraction);
    message.mutable_progress()->set_message(command.progress->message);
  }
  SetTime(spec.register_time, &v1::Command::mutable_register_time, message);
  SetTime(command.deliver_time, &v1::Command::mutable_deliver_time, message);
  SetTime(command.start_time, &v1::Command::mutable_start_time, message);
  SetTime(command.end_time, &v1::Command::mutable_end_time, message);
  if (command.error != nullptr) {
    v1::CommandError& error = *message.mutable_error();
    error.set_code(command.error->code);
    error.set_message(command.error->message);
    error.set_hint(command.error->hint);
    error.set_may_have_executed(command.error->may_have_executed);
  }
  message.set_context(BytesOf(command.context));
  if (view != CommandView::kWithoutPayloads) {
    message.set_result(BytesOf(command.result));
    message.set_late_result(BytesOf(command.late_result));
  }
  AddTrace(command, message);
  return message;
}

v1::CommandLease ToProto(const CommandLease& lease) {
  v1::CommandLease message;
  *message.mutable_command() = ToProto(lease.command, CommandView::kFull);
  message.set_lease_token(lease.lease_token);
  const int64_t nanos = absl::ToInt64Nanoseconds(lease.command.spec->start_to_close);
  message.mutable_start_to_close()->set_seconds(nanos / 1'000'000'000);
  message.mutable_start_to_close()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  return message;
}

absl::StatusOr<absl::Duration> DurationFrom(absl::string_view field,
                                            const google::protobuf::Duration& duration) {
  // Protobuf bounds both parts; outside of them the message was not made by its library.
  constexpr int64_t kMaxSeconds = 315'576'000'000;
  if (duration.seconds() < -kMaxSeconds || duration.seconds() > kMaxSeconds ||
      duration.nanos() <= -1'000'000'000 || duration.nanos() >= 1'000'000'000) {
    return InvalidField(field, "is no valid duration");
  }
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::StatusOr<CommandSpec> SpecFrom(const v1::RegisterCommandRequest& request) {
  CommandSpec spec;
  spec.client_id = request.client_id();
  spec.target = request.target();
  spec.type = request.type();
  spec.params = PayloadOf(request.params());
  spec.request_id = request.request_id();
  spec.label = request.label();
  switch (request.command_class()) {
    case v1::COMMAND_CLASS_UNSPECIFIED:
    case v1::COMMAND_CLASS_STANDARD:
      break;
    case v1::COMMAND_CLASS_HUMAN:
      spec.command_class = CommandClass::kHuman;
      break;
    default:
      return InvalidField("command_class", "has a value that is no class");
  }
  spec.idempotent = request.idempotent();
  ASSIGN_OR_RETURN(spec.start_to_close, DurationFrom("start_to_close", request.start_to_close()));
  return spec;
}

absl::StatusOr<CommandFilter> FilterFrom(const v1::ListCommandsRequest& request) {
  CommandFilter filter;
  filter.client_id = request.client_id();
  filter.target = request.target();
  filter.label = request.label();
  for (const int state : request.states()) {
    ASSIGN_OR_RETURN(const CommandState known, StateFrom(state));
    if (!absl::c_linear_search(filter.states, known)) filter.states.push_back(known);
  }
  return filter;
}

absl::StatusOr<CommandOutcome> OutcomeFrom(const v1::CompleteCommandRequest& request) {
  switch (request.outcome_case()) {
    case v1::CompleteCommandRequest::kResult:
      return CommandResult{PayloadOf(request.result())};
    case v1::CompleteCommandRequest::kError:
      return CommandFailure{ErrorFrom(request.error())};
    case v1::CompleteCommandRequest::kTimeout:
      return CommandTimeout{ErrorFrom(request.timeout())};
    case v1::CompleteCommandRequest::OUTCOME_NOT_SET:
      break;
  }
  return InvalidField("outcome", "is required: a result, an error or a timeout");
}

std::optional<CommandProgress> ProgressFrom(const v1::AcknowledgeCommandRequest& request) {
  if (!request.has_progress()) return std::nullopt;
  return CommandProgress{request.progress().fraction(), request.progress().message()};
}

}  // namespace callslip::tracker
