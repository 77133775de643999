#include "tracker/rpc/session_convert.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/rpc/time_convert.h"

namespace callslip::tracker {
namespace {

// The source of a message from the agent of a session: this, and the id of the session.
constexpr char kSessionSource[] = "session-";

v1::SessionState ToProto(SessionState state) {
  return state == SessionState::kActive ? v1::SESSION_STATE_ACTIVE : v1::SESSION_STATE_COMPLETED;
}

v1::AgentStatus ToProto(AgentStatus status) {
  switch (status) {
    case AgentStatus::kNone: return v1::AGENT_STATUS_UNSPECIFIED;
    case AgentStatus::kWaiting: return v1::AGENT_STATUS_WAITING;
    case AgentStatus::kStarting: return v1::AGENT_STATUS_STARTING;
    case AgentStatus::kIdle: return v1::AGENT_STATUS_IDLE;
    case AgentStatus::kPrompting: return v1::AGENT_STATUS_PROMPTING;
    case AgentStatus::kNeedsPermission: return v1::AGENT_STATUS_NEEDS_PERMISSION;
    case AgentStatus::kStopping: return v1::AGENT_STATUS_STOPPING;
    case AgentStatus::kStopped: return v1::AGENT_STATUS_STOPPED;
    case AgentStatus::kFailed: return v1::AGENT_STATUS_FAILED;
  }
  return v1::AGENT_STATUS_UNSPECIFIED;
}

const char* NameOf(QueueAction action) {
  switch (action) {
    case QueueAction::kAdded: return "added";
    case QueueAction::kRemoved: return "removed";
    case QueueAction::kCleared: return "cleared";
    case QueueAction::kMoved: return "moved";
    case QueueAction::kEdited: return "edited";
    case QueueAction::kSending: return "sending";
    case QueueAction::kSent: return "sent";
    case QueueAction::kReturned: return "returned";
    case QueueAction::kPaused: return "paused";
    case QueueAction::kResumed: return "resumed";
    case QueueAction::kConfigured: return "configured";
  }
  return "";
}

const char* NameOf(TurnEnd end) {
  switch (end) {
    case TurnEnd::kCompleted: return "completed";
    case TurnEnd::kFailed: return "failed";
    case TurnEnd::kCancelled: return "cancelled";
  }
  return "";
}

const char* NameOf(SessionAction action) {
  switch (action) {
    case SessionAction::kCreated: return "created";
    case SessionAction::kUpdated: return "updated";
    case SessionAction::kEnded: return "ended";
    case SessionAction::kResumed: return "resumed";
    case SessionAction::kDeleted: return "deleted";
    case SessionAction::kQueue: return "queue";
    case SessionAction::kAgent: return "agent";
    case SessionAction::kTurn: return "turn";
    case SessionAction::kPermission: return "permission";
    case SessionAction::kActivity: return "activity";
  }
  return "";
}

void FillChange(const QueueChange& change, v1::SessionUpdate::QueueChange& message) {
  message.set_action(NameOf(change.action));
  message.set_message_id(change.message_id);
  message.set_queue_length(static_cast<int32_t>(change.queue_length));
  message.set_pause_reason(change.pause_reason);
}

void FillChange(const TurnChange& change, v1::SessionUpdate::TurnChange& message) {
  message.set_turn_id(change.turn_id);
  message.set_message_id(change.queue_id);
  if (!change.outcome.has_value()) return;
  message.set_outcome(NameOf(change.outcome->end));
  message.set_reason(change.outcome->reason);
  message.set_message(change.outcome->message);
}

void FillChange(const PermissionChange& change, v1::Permission& message) {
  Fill(change.request, message);
  if (change.answer.has_value()) Fill(*change.answer, message);
}

void FillText(const StreamedText& text, v1::SessionUpdate::AgentText& message) {
  message.set_iteration(text.iteration);
  message.set_offset(text.offset);
  message.set_text(text.text);
}

// The parts of a session that a notice contains if it is not complete.
void FillNoticed(const SessionNotice& notice, v1::SessionNotice& message) {
  v1::Session& session = *message.mutable_session();
  session.set_session_id(notice.session.session_id);
  if (const auto* queue = std::get_if<QueueChange>(&notice.change)) {
    FillChange(*queue, *message.mutable_queue());
  } else if (const auto* turn = std::get_if<TurnChange>(&notice.change)) {
    FillChange(*turn, *message.mutable_turn());
  } else if (const auto* permission = std::get_if<PermissionChange>(&notice.change)) {
    FillChange(*permission, *message.mutable_permission());
    session.set_open_permissions(static_cast<int32_t>(notice.session.open_permissions));
  } else if (notice.action == SessionAction::kActivity) {
    session.set_max_seq(notice.session.max_seq);
    Set(notice.session.updated_at, *session.mutable_update_time());
  }
}

absl::Status RecordedByTracker() {
  return InvalidField("events",
                      "holds a session_start or session_end, which the tracker records itself");
}

// Converts each kind of change to its alternative of SessionUpdate::what.
struct UpdateFiller {
  v1::SessionUpdate& message;

  void operator()(const SessionSnapshot& snapshot) const {
    v1::SessionUpdate::Snapshot& all = *message.mutable_snapshot();
    Fill(snapshot.metadata, *all.mutable_session());
    Fill(snapshot, "", *all.mutable_queue());
    for (const PermissionRequest& request : snapshot.permissions) {
      Fill(request, *all.add_permissions());
    }
    if (snapshot.text.has_value()) FillText(*snapshot.text, *all.mutable_agent_text());
  }
  void operator()(const EventPtr& event) const { Fill(*event, *message.mutable_event()); }
  void operator()(const QueueChange& change) const { FillChange(change, *message.mutable_queue()); }
  void operator()(const TurnChange& change) const { FillChange(change, *message.mutable_turn()); }
  void operator()(const PermissionChange& change) const {
    FillChange(change, *message.mutable_permission());
  }
  void operator()(const SessionMetadata& metadata) const {
    Fill(metadata, *message.mutable_session());
  }
  void operator()(const AgentState& agent) const { Fill(agent, *message.mutable_agent()); }
  void operator()(const StreamedText& text) const { FillText(text, *message.mutable_agent_text()); }
  void operator()(const FeedEnd&) const {}
};

}  // namespace

void Fill(const SessionMetadata& session, v1::Session& message) {
  message.set_session_id(session.session_id);
  message.set_name(session.name);
  message.set_client_id(ClientScope(session.owner).client_id());
  message.set_acp_server(session.acp_server);
  message.set_working_dir(session.working_dir);
  message.set_damage(session.damage);
  message.set_state(ToProto(session.state));
  message.set_end_reason(session.end_reason);
  message.set_archived(session.archived);
  Set(session.created_at, *message.mutable_create_time());
  Set(session.updated_at, *message.mutable_update_time());
  if (session.archived) Set(session.archived_at, *message.mutable_archive_time());
  message.set_event_count(session.event_count);
  message.set_max_seq(session.max_seq);
  Fill(session.agent, *message.mutable_agent());
  message.set_queue_length(static_cast<int32_t>(session.queue.length));
  message.set_turn_id(session.queue.turn_id);
  message.set_pause_reason(session.queue.pause_reason);
  message.set_open_permissions(static_cast<int32_t>(session.open_permissions));
  message.set_parent_session_id(session.parent_session_id);
  message.set_detached(session.detached);
}

void Fill(const ImageRef& image, v1::ImageRef& message) {
  message.set_id(image.id);
  message.set_name(image.name);
  message.set_mime_type(image.mime_type);
}

void Fill(const Image& image, v1::GetImageResponse& message) {
  Fill(image.ref, *message.mutable_image());
  message.set_data(image.data);
}

void Fill(const AgentState& agent, v1::AgentState& message) {
  message.set_status(ToProto(agent.status));
  message.set_reason(agent.reason);
  message.set_message(agent.message);
  message.set_runner_id(agent.runner_id);
  message.set_agent_session_id(agent.agent_session_id);
  message.set_details(agent.details.str());
  if (agent.updated_at != absl::Time()) Set(agent.updated_at, *message.mutable_update_time());
}

void Fill(const SessionEvent& event, v1::SessionEvent& message) {
  message.set_seq(event.seq);
  Set(event.timestamp, *message.mutable_time());
  message.set_type(event.type);
  message.set_data(event.data);
}

void Fill(const EventPage& page, v1::ReadEventsResponse& message) {
  for (const EventPtr& event : page.events) Fill(*event, *message.add_events());
  message.set_has_more(page.has_more);
  message.set_first_seq(page.first_seq());
  message.set_last_seq(page.last_seq());
  message.set_max_seq(page.max_seq);
  message.set_next_position(page.next_position);
  message.set_next_after_seq(page.next_after_seq);
  message.set_length(page.length);
}

void Fill(const QueuedMessage& queued, v1::QueuedMessage& message) {
  message.set_message_id(queued.id);
  message.set_message(queued.message);
  for (const std::string& image : queued.image_ids) message.add_image_ids(image);
  Set(queued.queued_at, *message.mutable_queue_time());
  message.set_client_id(queued.client_id);
  message.set_prompt_id(queued.prompt_id);
  message.set_turn_id(queued.turn_id);
}

void Fill(const std::vector<QueuedMessage>& queued, v1::ListMessagesResponse& message) {
  for (const QueuedMessage& one : queued) Fill(one, *message.add_messages());
}

void Fill(const SessionSnapshot& snapshot, const std::string& sending_turn_id,
          v1::QueueStatus& message) {
  const QueueStatus& queue = snapshot.queue;
  message.set_length(static_cast<int32_t>(queue.length));
  v1::QueueSettings& settings = *message.mutable_settings();
  if (queue.settings.enabled.has_value()) settings.set_enabled(*queue.settings.enabled);
  if (queue.settings.delay.has_value()) Set(*queue.settings.delay, *settings.mutable_delay());
  message.set_enabled(queue.enabled);
  Set(queue.delay, *message.mutable_delay());
  message.set_turn_id(snapshot.turn.has_value() ? snapshot.turn->id : sending_turn_id);
  message.set_turn_message_id(snapshot.turn.has_value() ? snapshot.turn->prompt.id
                                                        : queue.sending_id);
  if (queue.pause.has_value()) {
    message.set_pause_reason(queue.pause->reason);
    message.set_pause_message(queue.pause->message);
    Set(queue.pause->at, *message.mutable_pause_time());
  }
  if (queue.send_at.has_value()) Set(*queue.send_at, *message.mutable_send_time());
  message.set_has_receiver(snapshot.has_runner);
}

void Fill(const PermissionRequest& request, v1::Permission& message) {
  message.set_permission_id(request.id);
  message.set_title(request.title);
  message.set_tool_call_id(request.tool_call_id);
  message.set_kind(request.kind);
  message.set_details(request.details);
  for (const PermissionOption& option : request.options) {
    v1::Permission::Option& added = *message.add_options();
    added.set_option_id(option.id);
    added.set_name(option.name);
    added.set_kind(option.kind);
  }
  Set(request.asked_at, *message.mutable_ask_time());
  message.set_parent_may_allow(request.parent_may_allow);
}

void Fill(const PermissionAnswer& answer, v1::Permission& message) {
  message.set_permission_id(answer.request_id);
  message.set_selected_option(answer.option_id);
  message.set_answered(!answer.cancelled());
  message.set_cancelled(answer.cancelled());
}

void Fill(const SessionNotice& notice, v1::SessionNotice& message) {
  message.set_action(NameOf(notice.action));
  switch (notice.action) {
    case SessionAction::kDeleted:
    case SessionAction::kQueue:
    case SessionAction::kTurn:
    case SessionAction::kPermission:
    case SessionAction::kActivity: return FillNoticed(notice, message);
    default: Fill(notice.session, *message.mutable_session());
  }
}

void Fill(const SessionUpdate& update, v1::SessionUpdate& message) {
  std::visit(UpdateFiller{message}, update.what);
}

absl::StatusOr<SessionFilter> FilterFrom(const v1::ListSessionsRequest& request) {
  SessionFilter filter{.with_archived = request.with_archived()};
  switch (request.state()) {
    case v1::SESSION_STATE_UNSPECIFIED: return filter;
    case v1::SESSION_STATE_ACTIVE: filter.state = SessionState::kActive; return filter;
    case v1::SESSION_STATE_COMPLETED: filter.state = SessionState::kCompleted; return filter;
    default: return InvalidField("state", "has a value that is not a state");
  }
}

absl::StatusOr<ClientEvent> EventFrom(const v1::SessionEvent& message) {
  if (message.type() == "session_start" || message.type() == "session_end") {
    return RecordedByTracker();
  }
  return ClientEvent{message.type(), message.data()};
}

absl::StatusOr<AgentStatus> StatusFrom(v1::AgentStatus status) {
  switch (status) {
    case v1::AGENT_STATUS_WAITING: return AgentStatus::kWaiting;
    case v1::AGENT_STATUS_STARTING: return AgentStatus::kStarting;
    case v1::AGENT_STATUS_IDLE:
    case v1::AGENT_STATUS_PROMPTING:
    case v1::AGENT_STATUS_NEEDS_PERMISSION: return AgentStatus::kIdle;
    case v1::AGENT_STATUS_STOPPING: return AgentStatus::kStopping;
    case v1::AGENT_STATUS_STOPPED: return AgentStatus::kStopped;
    case v1::AGENT_STATUS_FAILED: return AgentStatus::kFailed;
    default: return InvalidField("status", "has a value that no runner reports");
  }
}

EventQuery QueryFrom(const v1::ReadEventsRequest& request) {
  EventQuery query{.limit = request.limit(), .type = request.type()};
  switch (request.from_case()) {
    case v1::ReadEventsRequest::kBeforeSeq:
      query.from = EventQuery::From::kBeforeSeq;
      query.value = request.before_seq();
      break;
    case v1::ReadEventsRequest::kPosition:
      query.from = EventQuery::From::kPosition;
      query.value = request.position();
      break;
    default: query.value = request.after_seq();
  }
  return query;
}

PermissionRequest RequestFrom(const v1::AskPermissionRequest& request) {
  PermissionRequest permission{.id = request.permission_id(),
                               .title = request.title(),
                               .tool_call_id = request.tool_call_id(),
                               .kind = request.kind(),
                               .details = request.details(),
                               .parent_may_allow = request.parent_may_allow()};
  for (const v1::Permission::Option& option : request.options()) {
    permission.options.push_back({option.option_id(), option.name(), option.kind()});
  }
  return permission;
}

MessageRequest RequestFrom(const CallContext& caller, const v1::AddMessageRequest& request) {
  std::string source = request.source_id().empty() ? caller.client_id : request.source_id();
  if (!request.by_session_id().empty())
    source = absl::StrCat(kSessionSource, request.by_session_id());
  return {.message = request.message(),
          .image_ids = {request.image_ids().begin(), request.image_ids().end()},
          .client_id = std::move(source),
          .prompt_id = request.prompt_id()};
}

MessageRequest RequestFrom(const v1::EditMessageRequest& request) {
  return {.message = request.message(),
          .image_ids = {request.image_ids().begin(), request.image_ids().end()}};
}

MessageRequest RequestFrom(const v1::StartTurnRequest::Prompt& prompt,
                           const std::string& client_id) {
  return {.message = prompt.message(),
          .image_ids = {prompt.image_ids().begin(), prompt.image_ids().end()},
          .client_id = client_id,
          .prompt_id = prompt.prompt_id()};
}

absl::StatusOr<QueueSettings> SettingsFrom(const v1::QueueSettings& message) {
  QueueSettings settings;
  if (message.has_enabled()) settings.enabled = message.enabled();
  if (message.has_delay()) {
    ASSIGN_OR_RETURN(settings.delay, DurationFrom("settings.delay", message.delay()));
  }
  return settings;
}

absl::StatusOr<TurnOutcome> OutcomeFrom(const v1::FinishTurnRequest& request) {
  TurnOutcome outcome{.reason = request.reason(),
                      .message = request.message(),
                      .stop_reason = request.stop_reason(),
                      .usage = request.usage()};
  Cut(outcome.reason, kMaxReasonBytes);
  Cut(outcome.message, kMaxReasonTextBytes);
  switch (request.outcome()) {
    case v1::FinishTurnRequest::OUTCOME_COMPLETED:
      outcome.end = TurnEnd::kCompleted;
      return outcome;
    case v1::FinishTurnRequest::OUTCOME_FAILED: outcome.end = TurnEnd::kFailed; return outcome;
    case v1::FinishTurnRequest::OUTCOME_CANCELLED:
      outcome.end = TurnEnd::kCancelled;
      return outcome;
    default: return InvalidField("outcome", "is required: completed, failed or cancelled");
  }
}

}  // namespace callslip::tracker
