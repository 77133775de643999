#include "gateway/json/session_json.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/limits.h"
#include "gateway/json/command_json.h"

namespace callslip::gateway {
namespace {

constexpr int64_t kMaxSeq = std::numeric_limits<int64_t>::max();

// Messages as JSON, in order.
template <typename Messages>
Json ListOf(const Messages& messages) {
  Json list = Json::array();
  for (const auto& message : messages) list.push_back(ToJson(message));
  return list;
}

// Adds a member unless it is empty.
void AddText(const std::string& text, const char* name, Json& json) {
  if (!text.empty()) json[name] = text;
}

double SecondsOf(const google::protobuf::Duration& duration) {
  return absl::ToDoubleSeconds(DurationOf(duration));
}

Json MessageOf(const char* type, Json data) { return {{"type", type}, {"data", std::move(data)}}; }

// The name of an AgentStatus; "none" if no runner runs the agent.
std::string NameOf(v1::AgentStatus status) {
  if (status == v1::AGENT_STATUS_UNSPECIFIED) return "none";
  absl::string_view name = v1::AgentStatus_Name(status);
  absl::ConsumePrefix(&name, "AGENT_STATUS_");
  return absl::AsciiStrToLower(name);
}

Json QueueMessage(const v1::SessionUpdate::QueueChange& change) {
  if (change.action() == "sending" || change.action() == "sent") {
    return MessageOf(
        change.action() == "sent" ? "queue_message_sent" : "queue_message_sending",
        {{"message_id", change.message_id()}, {"queue_length", change.queue_length()}});
  }
  Json data = {{"queue_length", change.queue_length()},
               {"action", change.action()},
               {"message_id", change.message_id()}};
  AddText(change.pause_reason(), "pause_reason", data);
  return MessageOf("queue_updated", std::move(data));
}

Json TurnMessage(const v1::SessionUpdate::TurnChange& change) {
  Json data = {{"turn_id", change.turn_id()}};
  AddText(change.message_id(), "message_id", data);
  AddText(change.outcome(), "outcome", data);
  AddText(change.reason(), "reason", data);
  AddText(change.message(), "message", data);
  return MessageOf(change.outcome().empty() ? "turn_started" : "turn_ended", std::move(data));
}

Json PermissionMessage(const v1::Permission& permission) {
  return MessageOf(permission.cancelled()  ? "permission_cancelled"
                   : permission.answered() ? "permission_answered"
                                           : "permission_asked",
                   ToJson(permission));
}

// A change of a session, for an observer of many; null if the notice is not a change.
Json ChangeMessage(const v1::SessionNotice& notice) {
  const v1::Session& session = notice.session();
  Json message;
  if (notice.action() == "queue") {
    message = QueueMessage(notice.queue());
  } else if (notice.action() == "turn") {
    message = TurnMessage(notice.turn());
  } else if (notice.action() == "permission") {
    message = PermissionMessage(notice.permission());
    message["data"].erase("options");  // The tracker has omitted them.
    message["data"]["open_permissions"] = session.open_permissions();
  } else if (notice.action() == "activity") {
    message = MessageOf("session_activity", {{"max_seq", session.max_seq()},
                                             {"updated_at", WireTime(session.update_time())}});
  } else {
    return nullptr;
  }
  message["data"]["session_id"] = session.session_id();
  return message;
}

template <typename Texts>
void SetTexts(std::vector<std::string> from, Texts* to) {
  for (std::string& text : from) to->Add(std::move(text));
}

}  // namespace

Json ToJson(const v1::Session& session) {
  Json json = {{"session_id", session.session_id()},
               {"name", session.name()},
               {"client_id", session.client_id()},
               {"acp_server", session.acp_server()},
               {"working_dir", session.working_dir()},
               {"status", session.state() == v1::SESSION_STATE_COMPLETED ? "completed" : "active"},
               {"archived", session.archived()},
               {"created_at", WireTime(session.create_time())},
               {"updated_at", WireTime(session.update_time())},
               {"event_count", session.event_count()},
               {"max_seq", session.max_seq()},
               {"agent", ToJson(session.agent())},
               {"queue_length", session.queue_length()},
               {"open_permissions", session.open_permissions()}};
  AddText(session.turn_id(), "turn_id", json);
  AddText(session.pause_reason(), "pause_reason", json);
  AddText(session.parent_session_id(), "parent_session_id", json);
  if (!session.parent_session_id().empty()) json["detached"] = session.detached();
  AddText(session.end_reason(), "end_reason", json);
  AddText(session.damage(), "damage", json);
  if (session.has_archive_time()) json["archived_at"] = WireTime(session.archive_time());
  return json;
}

Json ToJson(const v1::AgentState& agent) {
  Json json = {{"status", NameOf(agent.status())}};
  AddText(agent.reason(), "reason", json);
  AddText(agent.message(), "message", json);
  AddText(agent.runner_id(), "runner_id", json);
  AddText(agent.agent_session_id(), "agent_session_id", json);
  if (!agent.details().empty()) json["details"] = JsonOrText(agent.details());
  if (agent.has_update_time()) json["updated_at"] = WireTime(agent.update_time());
  return json;
}

Json ToJson(const v1::ImageRef& image) {
  Json json = {{"id", image.id()}, {"mime_type", image.mime_type()}};
  AddText(image.name(), "name", json);
  return json;
}

Json ToJson(const v1::ListSessionsResponse& listed) {
  Json json = {{"sessions", ListOf(listed.sessions())}};
  AddText(listed.next_page_token(), "next_page_token", json);
  return json;
}

Json ToJson(const v1::AppendEventsResponse& appended) {
  return {{"first_seq", appended.first_seq()}, {"last_seq", appended.last_seq()}};
}

Json PlaceJson(const v1::ReadEventsResponse& page) {
  return {{"has_more", page.has_more()},
          {"first_seq", page.first_seq()},
          {"last_seq", page.last_seq()},
          {"max_seq", page.max_seq()},
          {"length", page.length()},
          {"next_position", page.next_position()},
          {"next_after_seq", page.next_after_seq()}};
}

Json ToJson(const v1::SessionEvent& event) {
  // Lenient, like readers of EventText(): the tracker has checked it.
  Json data = Json::parse(event.data(), nullptr, /*allow_exceptions=*/false);
  Json json = {{"seq", event.seq()}, {"timestamp", WireTime(event.time())}, {"type", event.type()}};
  if (!data.is_object()) json["omitted_bytes"] = event.data().size();
  json["data"] = data.is_object() ? std::move(data) : Json::object();
  return json;
}

Json ToJson(const v1::Player& player) {
  return {{"player_id", player.player_id()},
          {"session_id", player.session_id()},
          {"position", player.position()},
          {"length", player.length()}};
}

Json ToJson(const v1::MovePlayerResponse& moved) {
  Json json = ToJson(moved.player());
  json["events"] = ListOf(moved.events());
  return json;
}

Json ToJson(const v1::AddAgentTextResponse& found) {
  Json commands = Json::array();
  for (const auto& command : found.commands()) {
    commands.push_back({{"id", command.id()},
                        {"command", command.command()},
                        {"correlation_id", command.command_id()}});
  }
  return {{"commands", std::move(commands)}, {"length", found.length()}};
}

Json ToJson(const v1::Permission& permission) {
  Json options = Json::array();
  for (const auto& option : permission.options()) {
    options.push_back(
        {{"option_id", option.option_id()}, {"name", option.name()}, {"kind", option.kind()}});
  }
  const char* status = permission.cancelled()  ? "cancelled"
                       : permission.answered() ? "answered"
                                               : "open";
  Json json = {{"permission_id", permission.permission_id()},
               {"title", permission.title()},
               {"options", std::move(options)},
               {"asked_at", WireTime(permission.ask_time())},
               {"status", status}};
  AddText(permission.selected_option(), "selected_option", json);
  AddText(permission.tool_call_id(), "tool_call_id", json);
  AddText(permission.kind(), "kind", json);
  if (!permission.details().empty()) json["details"] = JsonOrText(permission.details());
  if (permission.parent_may_allow()) json["parent_may_allow"] = true;
  return json;
}

Json ToJson(const v1::ListPermissionsResponse& listed) {
  return {{"permissions", ListOf(listed.permissions())}};
}

Json ToJson(const v1::QueuedMessage& message) {
  Json json = {{"id", message.message_id()},
               {"message", message.message()},
               {"image_ids", Json::array()},
               {"queued_at", WireTime(message.queue_time())},
               {"client_id", message.client_id()}};
  for (const std::string& id : message.image_ids()) json["image_ids"].push_back(id);
  AddText(message.prompt_id(), "prompt_id", json);
  AddText(message.turn_id(), "turn_id", json);
  return json;
}

Json ToJson(const v1::ListMessagesResponse& listed) {
  return {{"messages", ListOf(listed.messages())}, {"count", listed.messages_size()}};
}

Json ToJson(const v1::QueueStatus& status) {
  Json settings = Json::object();
  if (status.settings().has_enabled()) settings["enabled"] = status.settings().enabled();
  if (status.settings().has_delay())
    settings["delay_seconds"] = SecondsOf(status.settings().delay());
  Json json = {{"length", status.length()},
               {"enabled", status.enabled()},
               {"delay_seconds", SecondsOf(status.delay())},
               {"settings", std::move(settings)},
               {"paused", !status.pause_reason().empty()},
               {"has_receiver", status.has_receiver()}};
  AddText(status.turn_id(), "turn_id", json);
  AddText(status.turn_message_id(), "turn_message_id", json);
  AddText(status.pause_reason(), "pause_reason", json);
  AddText(status.pause_message(), "pause_message", json);
  if (status.has_pause_time()) json["paused_at"] = WireTime(status.pause_time());
  if (status.has_send_time()) json["send_at"] = WireTime(status.send_time());
  return json;
}

Json ToJson(const v1::SessionUpdate::AgentText& text) {
  return {{"iteration", text.iteration()}, {"offset", text.offset()}, {"text", text.text()}};
}

Json ToJson(const v1::StartTurnResponse& started) {
  return {{"turn_id", started.turn_id()}, {"seq", started.seq()}};
}

Json ToJson(const v1::ReceivedMessage& received) {
  Json json = {{"turn_id", received.turn_id()}};
  if (received.stop()) {
    json["stop"] = true;
  } else {
    json["message"] = ToJson(received.message());
  }
  return json;
}

Json QueuedJson(const v1::QueuedMessage& message) {
  return {{"id", message.message_id()},
          {"message", message.message()},
          {"queued_at", WireTime(message.queue_time())}};
}

Json ToMessage(const v1::SessionUpdate& update) {
  switch (update.update_case()) {
    case v1::SessionUpdate::kSession: return MessageOf("session_updated", ToJson(update.session()));
    case v1::SessionUpdate::kQueue: return QueueMessage(update.queue());
    case v1::SessionUpdate::kPermission: return PermissionMessage(update.permission());
    case v1::SessionUpdate::kTurn: return TurnMessage(update.turn());
    case v1::SessionUpdate::kAgent: return MessageOf("agent_updated", ToJson(update.agent()));
    case v1::SessionUpdate::kAgentText: return MessageOf("agent_text", ToJson(update.agent_text()));
    default: return nullptr;
  }
}

Json ToMessage(const v1::SessionNotice& notice) {
  if (!notice.has_session()) return nullptr;
  if (Json change = ChangeMessage(notice); !change.is_null()) return change;
  Json data = notice.action() == "deleted" ? Json{{"session_id", notice.session().session_id()}}
                                           : ToJson(notice.session());
  return MessageOf(absl::StrCat("session_", notice.action()).c_str(), std::move(data));
}

Json FailureMessage(const TrackerError& error, const std::string& request,
                    const std::string& request_id) {
  Json data = {{"error", error.reason}, {"message", error.message}, {"hint", error.hint}};
  if (error.retry_after.has_value()) {
    data["retry_after_ms"] = absl::ToInt64Milliseconds(*error.retry_after);
  }
  AddText(request, "request", data);
  AddText(request_id, "request_id", data);
  return MessageOf("request_failed", std::move(data));
}

absl::StatusOr<v1::SessionEvent> EventOf(Json json) {
  const Json data = json.is_object() ? json.value("data", Json::object()) : Json();
  JsonFields fields = JsonFields::OfObject(std::move(json));
  const std::string type = fields.Text("type");
  if (type.empty()) fields.Fail("an event needs a type");
  if (!data.is_object()) fields.Fail("the data of an event must be an object");
  if (!fields.status().ok()) return fields.status();

  v1::SessionEvent event;
  event.set_type(type);
  event.set_data(Dump(data));
  return event;
}

void ReadFields(JsonFields& fields, v1::CreateSessionRequest& request) {
  request.set_session_id(fields.Text("session_id"));
  request.set_name(fields.Text("name"));
  request.set_acp_server(fields.Text("acp_server"));
  request.set_working_dir(fields.Text("working_dir"));
  request.set_parent_session_id(fields.Text("parent_session_id"));
  request.set_detached(fields.Boolean("detached").value_or(false));
}

void ReadFields(JsonFields& fields, v1::ListSessionsRequest& request) {
  if (fields.Has("status")) {
    const bool active = fields.Choice("status", {"active", "completed"}) == "active";
    request.set_state(active ? v1::SESSION_STATE_ACTIVE : v1::SESSION_STATE_COMPLETED);
  }
  request.set_owner(fields.Text("client"));
  request.set_with_archived(fields.Boolean("archived").value_or(false));
  request.set_page_size(fields.Integer("limit", 0, 500).value_or(0));
  request.set_page_token(fields.Text("page_token"));
}

void ReadFields(JsonFields& fields, v1::UpdateSessionRequest& request) {
  if (auto name = fields.OptionalText("name")) request.set_name(*std::move(name));
  if (const auto archived = fields.Boolean("archived")) request.set_archived(*archived);
  request.set_if_unnamed(fields.Boolean("if_unnamed").value_or(false));
}

void ReadFields(JsonFields& fields, v1::EndSessionRequest& request) {
  request.set_reason(fields.Text("reason"));
}

void ReadFields(JsonFields& fields, v1::AppendEventsRequest& request) {
  std::vector<Json> events = fields.Objects("events");
  if (events.empty() || events.size() > 1000) fields.Fail("events must be 1 to 1000 events");
  for (Json& json : events) {
    absl::StatusOr<v1::SessionEvent> event = EventOf(std::move(json));
    if (!event.ok()) return fields.Fail("each event needs a type, and an object as its data");
    *request.add_events() = *std::move(event);
  }
}

void ReadFields(JsonFields& fields, v1::ReadEventsRequest& request) {
  const int starts = fields.Has("after_seq") + fields.Has("before_seq") + fields.Has("position");
  if (starts > 1) fields.Fail("after_seq, before_seq and position exclude each other");
  if (const auto seq = fields.Integer("after_seq", 0, kMaxSeq)) request.set_after_seq(*seq);
  if (const auto seq = fields.Integer("before_seq", 0, kMaxSeq)) request.set_before_seq(*seq);
  if (const auto position = fields.Integer("position", 0, kMaxSeq)) request.set_position(*position);
  request.set_limit(fields.Integer("limit", 0, 1000).value_or(0));
  request.set_type(fields.Text("type"));
}

void ReadFields(JsonFields& fields, v1::MovePlayerRequest& request) {
  const std::string move = fields.Choice("move", {"next", "peek", "seek", "reset"});
  if (move == "next") request.set_next(fields.Integer("count", 0, 1000).value_or(1));
  if (move == "peek") request.set_peek(fields.Integer("count", 0, 1000).value_or(1));
  if (move == "seek") {
    if (!fields.Has("position")) fields.Fail("position is missing");
    request.set_seek(fields.Integer("position", 0, kMaxSeq).value_or(0));
  }
  if (move == "reset") request.set_reset(true);
  request.set_type(fields.Text("type"));
}

void ReadFields(JsonFields& fields, v1::PlayRequest& request) {
  request.set_speed(fields.Number("speed", 1000).value_or(1));
}

void ReadFields(JsonFields& fields, v1::AddAgentTextRequest& request) {
  constexpr int64_t kMaxIteration = std::numeric_limits<int32_t>::max();
  request.set_iteration(fields.Integer("iteration", 0, kMaxIteration).value_or(0));
  request.set_text(fields.Text("text"));
  request.set_end(fields.Boolean("end").value_or(false));
  if (const auto offset = fields.Integer("offset", 0, kMaxSeq)) request.set_offset(*offset);
}

void ReadFields(JsonFields& fields, v1::AskPermissionRequest& request) {
  constexpr int64_t kDefaultWaitMs = 30'000;
  request.set_permission_id(fields.Text("permission_id"));
  request.set_title(fields.Text("title"));
  request.set_tool_call_id(fields.Text("tool_call_id"));
  request.set_kind(fields.Text("kind"));
  if (fields.Has("details")) request.set_details(Dump(fields.Object("details")));
  request.set_parent_may_allow(fields.Boolean("parent_may_allow").value_or(false));
  for (const Json& json : fields.Objects("options")) {
    JsonFields members = JsonFields::OfObject(json);
    v1::Permission::Option* option = request.add_options();
    option->set_option_id(members.Text("option_id"));
    option->set_name(members.Text("name"));
    option->set_kind(members.Text("kind"));
    if (!members.status().ok()) fields.Fail("the members of an option must be strings");
  }
  request.set_max_wait_ms(
      fields.Integer("wait_ms", 0, absl::ToInt64Milliseconds(kMaxWait)).value_or(kDefaultWaitMs));
}

void ReadFields(JsonFields& fields, v1::AnswerPermissionRequest& request) {
  request.set_option_id(fields.Text("option_id"));
  if (request.option_id().empty()) fields.Fail("option_id is missing");
}

void ReadFields(JsonFields& fields, v1::GetImageRequest& request) {
  request.set_image_id(fields.Text("image_id"));
}

void ReadFields(JsonFields& fields, v1::AddMessageRequest& request) {
  request.set_message(fields.Text("message"));
  SetTexts(fields.Texts("image_ids"), request.mutable_image_ids());
  request.set_prompt_id(fields.Text("prompt_id"));
  request.set_source_id(fields.Text("source_id"));
  request.set_now(fields.Boolean("now").value_or(false));
}

void ReadFields(JsonFields& fields, v1::EditMessageRequest& request) {
  request.set_message(fields.Text("message"));
  SetTexts(fields.Texts("image_ids"), request.mutable_image_ids());
}

void ReadFields(JsonFields& fields, v1::MoveMessageRequest& request) {
  if (!fields.Has("position")) fields.Fail("position is missing");
  request.set_position(fields.Integer("position", 0, 1000).value_or(0));
}

void ReadFields(JsonFields& fields, v1::ConfigureQueueRequest& request) {
  constexpr double kMaxDelaySeconds = 24 * 60 * 60;
  v1::QueueSettings* settings = request.mutable_settings();
  if (const auto enabled = fields.Boolean("enabled")) settings->set_enabled(*enabled);
  if (const auto seconds = fields.Number("delay_seconds", kMaxDelaySeconds)) {
    const int64_t nanos = std::llround(*seconds * 1e9);
    settings->mutable_delay()->set_seconds(nanos / 1'000'000'000);
    settings->mutable_delay()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  }
}

void ReadFields(JsonFields& fields, v1::PauseQueueRequest& request) {
  request.set_reason(fields.Text("reason"));
  request.set_message(fields.Text("message"));
}

void ReadFields(JsonFields& fields, v1::ResumeQueueRequest& request) {
  const std::string action = fields.Text("action");
  request.set_how(action == "retry"  ? v1::ResumeQueueRequest::HOW_RETRY
                  : action == "skip" ? v1::ResumeQueueRequest::HOW_SKIP
                                     : v1::ResumeQueueRequest::HOW_RESUME);
}

void ReadFields(JsonFields& fields, v1::StartTurnRequest& request) {
  // The turn of a received message has its prompt already.
  if (!request.turn_id().empty()) return;
  v1::StartTurnRequest::Prompt* prompt = request.mutable_prompt();
  prompt->set_message(fields.Text("message"));
  prompt->set_prompt_id(fields.Text("prompt_id"));
  for (const Json& json : fields.Objects("images")) {
    JsonFields members = JsonFields::OfObject(json);
    prompt->add_image_ids(members.Text("id"));
    if (!members.status().ok()) fields.Fail("the id of an image must be a string");
  }
}

void ReadFields(JsonFields& fields, v1::FinishTurnRequest& request) {
  const std::string outcome = fields.Choice("outcome", {"completed", "failed", "cancelled"});
  request.set_outcome(outcome == "completed" ? v1::FinishTurnRequest::OUTCOME_COMPLETED
                      : outcome == "failed"  ? v1::FinishTurnRequest::OUTCOME_FAILED
                                             : v1::FinishTurnRequest::OUTCOME_CANCELLED);
  request.set_reason(fields.Text("reason"));
  request.set_message(fields.Text("message"));
  request.set_stop_reason(fields.Text("stop_reason"));
  if (fields.Has("usage")) request.set_usage(Dump(fields.Object("usage")));
}

}  // namespace callslip::gateway
