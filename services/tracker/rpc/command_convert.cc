#include "tracker/rpc/command_convert.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/rpc/command_spans.h"
#include "tracker/rpc/time_convert.h"

namespace callslip::tracker {

namespace {

// Omits events that have not happened.
void SetIfKnown(absl::Time time, google::protobuf::Timestamp* (v1::Command::*mutable_field)(),
                v1::Command& command) {
  if (time != absl::InfinitePast()) Set(time, *(command.*mutable_field)());
}

Payload PayloadOf(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

void SetText(absl::string_view text, std::string* field) {
  field->assign(text.data(), text.size());
}

// Does not touch the field for an empty text, which would allocate it.
void SetIfAny(absl::string_view text, std::string* (v1::Command::*mutable_field)(),
              v1::Command& command) {
  if (!text.empty()) SetText(text, (command.*mutable_field)());
}

absl::string_view StageName(TraceEntry::Stage stage) {
  switch (stage) {
    case TraceEntry::Stage::kQueued: return "queued";
    case TraceEntry::Stage::kSent: return "sent";
    case TraceEntry::Stage::kStarted: return "started";
    case TraceEntry::Stage::kReturned: return "returned";
    case TraceEntry::Stage::kResolved: return "resolved";
    case TraceEntry::Stage::kLateResult: return "late_result";
  }
  return "";
}

absl::string_view SourceName(TraceEntry::Source source) {
  switch (source) {
    case TraceEntry::Source::kClient: return "client";
    case TraceEntry::Source::kWorker: return "worker";
    case TraceEntry::Source::kTracker: return "tracker";
  }
  return "";
}

absl::StatusOr<CommandState> StateFrom(int state) {
  if (state < v1::COMMAND_STATE_QUEUED || state > v1::COMMAND_STATE_CANCELLED) {
    return InvalidField("states", "has a value that is not a state");
  }
  return static_cast<CommandState>(state - v1::COMMAND_STATE_QUEUED);
}

absl::StatusOr<std::vector<CommandState>> StatesFrom(
    const google::protobuf::RepeatedField<int>& states) {
  std::vector<CommandState> known;
  for (const int state : states) {
    ASSIGN_OR_RETURN(const CommandState next, StateFrom(state));
    if (!absl::c_linear_search(known, next)) known.push_back(next);
  }
  return known;
}

void FillTrace(const CommandSnapshot& command, v1::Command& message) {
  for (const TraceEntry& entry : command.trace) {
    v1::TraceEntry& added = *message.add_trace();
    SetText(StageName(entry.stage), added.mutable_stage());
    SetText(SourceName(entry.source), added.mutable_source());
    Set(absl::FromUnixNanos(entry.unix_nanos), *added.mutable_time());
  }
  // The last delivery was to the last worker.
  auto worker = command.workers.rbegin();
  for (int at = message.trace_size(); at-- > 0 && worker != command.workers.rend();) {
    if (command.trace[at].stage == TraceEntry::Stage::kSent) {
      message.mutable_trace(at)->set_worker_id(**worker++);
    }
  }
}

void FillDeadlines(const CommandSpec& spec, v1::CommandDeadlines& message) {
  const CommandDeadlines& deadlines = *spec.deadlines;
  Set(deadlines.result_retention, *message.mutable_result_retention());
  if (spec.command_class == CommandClass::kHuman) {
    Set(deadlines.human_schedule_to_close, *message.mutable_schedule_to_close());
    return;
  }
  Set(deadlines.schedule_to_start, *message.mutable_schedule_to_start());
  Set(deadlines.ack_wait, *message.mutable_ack_wait());
  Set(deadlines.heartbeat_timeout, *message.mutable_heartbeat_timeout());
  Set(deadlines.start_to_close, *message.mutable_start_to_close());
  Set(deadlines.ScheduleToClose(), *message.mutable_schedule_to_close());
}

void FillSpec(const CommandSpec& spec, CommandView view, v1::Command& message) {
  message.set_command_id(spec.id.ToString());
  SetIfAny(spec.client_id(), &v1::Command::mutable_client_id, message);
  SetIfAny(spec.target(), &v1::Command::mutable_target, message);
  SetIfAny(spec.type(), &v1::Command::mutable_type, message);
  if (view == CommandView::kFull) message.set_params(*spec.params);
  SetIfAny(spec.request_id(), &v1::Command::mutable_request_id, message);
  SetIfAny(spec.label(), &v1::Command::mutable_label, message);
  SetIfAny(spec.ordering_key(), &v1::Command::mutable_ordering_key, message);
  SetIfAny(spec.replay_of(), &v1::Command::mutable_replay_of, message);
  message.set_command_class(spec.command_class == CommandClass::kHuman
                                ? v1::COMMAND_CLASS_HUMAN
                                : v1::COMMAND_CLASS_STANDARD);
  message.set_priority(spec.priority);
  message.set_idempotent(spec.idempotent);
  if (!spec.trace.empty()) message.set_traceparent(TraceForClients(spec).ToString());
  SetIfKnown(spec.register_time, &v1::Command::mutable_register_time, message);
  SetIfKnown(spec.not_before, &v1::Command::mutable_not_before, message);
  if (view != CommandView::kWithoutPayloads) FillDeadlines(spec, *message.mutable_deadlines());
}

// The trace in the request takes precedence over that in the call's metadata.
void TakeTrace(const CallContext& caller, const v1::RegisterCommandRequest& request,
               CommandRequest& command) {
  const bool is_named = !request.traceparent().empty();
  const TraceContext given =
      TraceContext::Parse(is_named ? request.traceparent() : caller.trace).value_or(TraceContext());
  command.trace = caller.span.empty() ? given : caller.span;
  const std::string& tracestate = is_named ? request.tracestate() : caller.companions.tracestate;
  if (!tracestate.empty() && !given.empty()) {
    command.tracestate = TracestateOf(tracestate);
  }
  const std::string& baggage =
      request.baggage().empty() ? caller.companions.baggage : request.baggage();
  if (!baggage.empty()) command.baggage = BaggageOf(baggage);
}

absl::Status OverrideFrom(absl::string_view name, bool present,
                          const google::protobuf::Duration& message,
                          std::optional<absl::Duration>& deadline) {
  if (!present) return absl::OkStatus();
  ASSIGN_OR_RETURN(deadline, DurationFrom(absl::StrCat("deadlines.", name), message));
  return absl::OkStatus();
}

absl::StatusOr<DeadlineOverrides> OverridesFrom(const v1::CommandDeadlines& message) {
  DeadlineOverrides overrides;
  RETURN_IF_ERROR(OverrideFrom("schedule_to_start", message.has_schedule_to_start(),
                               message.schedule_to_start(), overrides.schedule_to_start));
  RETURN_IF_ERROR(
      OverrideFrom("ack_wait", message.has_ack_wait(), message.ack_wait(), overrides.ack_wait));
  RETURN_IF_ERROR(OverrideFrom("heartbeat_timeout", message.has_heartbeat_timeout(),
                               message.heartbeat_timeout(), overrides.heartbeat_timeout));
  RETURN_IF_ERROR(OverrideFrom("start_to_close", message.has_start_to_close(),
                               message.start_to_close(), overrides.start_to_close));
  RETURN_IF_ERROR(OverrideFrom("schedule_to_close", message.has_schedule_to_close(),
                               message.schedule_to_close(), overrides.schedule_to_close));
  RETURN_IF_ERROR(OverrideFrom("result_retention", message.has_result_retention(),
                               message.result_retention(), overrides.result_retention));
  return overrides;
}

}  // namespace

v1::CommandState ToProto(CommandState state) {
  return static_cast<v1::CommandState>(static_cast<int>(state) + v1::COMMAND_STATE_QUEUED);
}

void Fill(const CommandSnapshot& command, CommandView view, v1::Command& message) {
  FillSpec(*command.spec, view, message);
  message.set_state(ToProto(command.state));
  message.set_revision(command.revision);
  message.set_attempt(command.attempt);
  if (command.progress != nullptr) {
    message.mutable_progress()->set_fraction(command.progress->fraction);
    message.mutable_progress()->set_message(command.progress->message);
  }
  SetIfKnown(command.deliver_time(), &v1::Command::mutable_deliver_time, message);
  SetIfKnown(command.start_time(), &v1::Command::mutable_start_time, message);
  SetIfKnown(command.end_time(), &v1::Command::mutable_end_time, message);
  if (command.error != nullptr) {
    v1::CommandError& error = *message.mutable_error();
    error.set_code(command.error->code);
    error.set_message(command.error->message);
    error.set_hint(command.error->hint);
    error.set_may_have_executed(command.error->may_have_executed);
  }
  if (const auto work = command.WorkNanos(); work.has_value()) {
    Set(absl::FromUnixNanos(work->begin), *message.mutable_work_begin_time());
    Set(absl::FromUnixNanos(work->end), *message.mutable_work_end_time());
  }
  if (command.context != nullptr) message.set_context(*command.context);
  if (view != CommandView::kWithoutPayloads) {
    if (command.result != nullptr) message.set_result(*command.result);
    if (command.late_result != nullptr) message.set_late_result(*command.late_result);
  }
  FillTrace(command, message);
}

void Fill(const CommandLease& lease, v1::CommandLease& message) {
  Fill(*lease.command, CommandView::kFull, *message.mutable_command());
  if (!lease.command->spec->trace.empty()) {
    message.mutable_command()->set_traceparent(TraceForWorker(*lease.command).ToString());
  }
  SetIfAny(lease.command->spec->tracestate(), &v1::Command::mutable_tracestate,
           *message.mutable_command());
  SetIfAny(lease.command->spec->baggage(), &v1::Command::mutable_baggage,
           *message.mutable_command());
  message.set_lease_token(lease.token.ToString());
  Set(lease.start_to_close, *message.mutable_start_to_close());
}

void Fill(const absl::Status& error, v1::WatchError& message) {
  const ErrorDetails details = DetailsOf(error);
  message.set_code(static_cast<int>(error.code()));
  SetText(error.message(), message.mutable_message());
  message.set_reason(details.reason);
  message.set_hint(details.hint);
}

void Fill(const CommandUpdate& update, CommandView view, v1::CommandUpdate& message) {
  message.set_watch_id(update.watch_id);
  if (!update.error.ok()) {
    Fill(update.error, *message.mutable_error());
  } else if (update.command != nullptr) {
    Fill(*update.command, view, *message.mutable_command());
  }
  message.set_last(update.last);
  message.set_removed(update.removed);
}

absl::StatusOr<CommandRequest> RequestFrom(const CallContext& caller,
                                           const v1::RegisterCommandRequest& request) {
  CommandRequest command;
  command.client_id = caller.client_id;
  command.target = request.target();
  command.type = request.type();
  if (!request.params().empty()) command.params = PayloadOf(request.params());
  command.request_id = request.request_id();
  command.label = request.label();
  command.ordering_key = request.ordering_key();
  switch (request.command_class()) {
    case v1::COMMAND_CLASS_UNSPECIFIED:
    case v1::COMMAND_CLASS_STANDARD: break;
    case v1::COMMAND_CLASS_HUMAN: command.command_class = CommandClass::kHuman; break;
    default: return InvalidField("command_class", "has a value that is not a class");
  }
  command.idempotent = request.idempotent();
  command.priority = request.priority();
  TakeTrace(caller, request, command);
  if (request.has_not_before()) {
    ASSIGN_OR_RETURN(command.not_before, TimeFrom("not_before", request.not_before()));
  }
  if (request.has_deadlines()) {
    ASSIGN_OR_RETURN(command.deadlines, OverridesFrom(request.deadlines()));
  }
  return command;
}

absl::StatusOr<CommandFilter> FilterFrom(const v1::ListCommandsRequest& request) {
  CommandFilter filter;
  filter.target = request.target();
  filter.label = request.label();
  ASSIGN_OR_RETURN(filter.states, StatesFrom(request.states()));
  if (request.of_each_group() &&
      (!filter.states.empty() || request.dead_letters() || !request.page_token().empty())) {
    return InvalidField("of_each_group",
                        "can't be combined with states, dead_letters and page_token");
  }
  if (!request.dead_letters()) return filter;
  if (!filter.states.empty()) {
    return InvalidField("dead_letters", "can't be combined with states");
  }
  filter.states = {CommandState::kFailed, CommandState::kTimedOut, CommandState::kExpired};
  return filter;
}

absl::StatusOr<CommandFilter> FilterFrom(const v1::CommandFilter& message) {
  CommandFilter filter;
  filter.target = message.target();
  filter.label = message.label();
  ASSIGN_OR_RETURN(filter.states, StatesFrom(message.states()));
  return filter;
}

WorkTime WorkFrom(const v1::CompleteCommandRequest& request) {
  if (!request.has_work_time()) return {};
  const auto micros = [](const google::protobuf::Duration& time, uint32_t least) {
    constexpr double kMaxValue = std::numeric_limits<uint32_t>::max();
    const double given = static_cast<double>(time.seconds()) * 1e6 + time.nanos() / 1e3;
    return static_cast<uint32_t>(std::clamp<double>(given, least, kMaxValue));
  };
  return {.micros = micros(request.work_time(), 1), .age_micros = micros(request.work_age(), 0)};
}

absl::StatusOr<CommandOutcome> OutcomeFrom(const v1::CompleteCommandRequest& request) {
  switch (request.outcome_case()) {
    case v1::CompleteCommandRequest::kResult: return CommandResult{PayloadOf(request.result())};
    case v1::CompleteCommandRequest::kError: return CommandFailure{ErrorFrom(request.error())};
    case v1::CompleteCommandRequest::kTimeout: return CommandTimeout{ErrorFrom(request.timeout())};
    case v1::CompleteCommandRequest::OUTCOME_NOT_SET: break;
  }
  return InvalidField("outcome", "is required: a result, an error or a timeout");
}

CommandError ErrorFrom(const v1::CommandError& error) {
  // If the worker does not rule it out, it may have executed.
  return {error.code(), error.message(), error.hint(),
          error.has_may_have_executed() ? error.may_have_executed() : true};
}

std::optional<CommandProgress> ProgressFrom(const v1::AcknowledgeCommandRequest& request) {
  if (!request.has_progress()) return std::nullopt;
  return CommandProgress{request.progress().fraction(), request.progress().message()};
}

LeaseProof ProofFrom(const std::string& lease_token, int attempt) {
  if (lease_token.empty()) return {.attempt = attempt};
  // Text that is not a token proves nothing, like a foreign token.
  return {.token = LeaseToken::Parse(lease_token).value_or(LeaseToken()), .attempt = attempt};
}

LeaseProofs ProofsFrom(bool without_proof) {
  return without_proof ? LeaseProofs::kOptional : LeaseProofs::kRequired;
}

absl::StatusOr<KnownDeliveries> KnownFrom(const v1::LeaseCommandsRequest& request) {
  if (!request.has_known_deliveries()) return KnownDeliveries();
  const auto& texts = request.known_deliveries().lease_tokens();
  if (texts.size() > kMaxKnownDeliveries) {
    return InvalidField("known_deliveries", absl::StrCat("must be at most ", kMaxKnownDeliveries));
  }
  KnownDeliveries known;
  ASSIGN_OR_RETURN(known.reach_back,
                   DurationFrom("reaches_back", request.known_deliveries().reaches_back()));
  for (const std::string& text : texts) {
    // Text that is not a token names nothing.
    const auto token = LeaseToken::Parse(text);
    if (token.has_value()) known.leases.push_back(*token);
  }
  return known;
}

Payload ContextFrom(const std::string& context) {
  return context.empty() ? nullptr : PayloadOf(context);
}

absl::StatusOr<absl::Time> WaitUntil(const google::protobuf::Duration& max_wait,
                                     absl::Duration longest, absl::Duration by_default,
                                     absl::Time now) {
  ASSIGN_OR_RETURN(const absl::Duration wait, DurationFrom("max_wait", max_wait));
  if (wait < absl::ZeroDuration() || wait > longest) {
    return InvalidField("max_wait",
                        absl::StrCat("must be from 0 to ", absl::FormatDuration(longest)));
  }
  return now + (wait == absl::ZeroDuration() ? by_default : wait);
}

}  // namespace callslip::tracker
