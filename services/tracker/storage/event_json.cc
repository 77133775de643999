#include "tracker/storage/event_json.h"

#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/storage/json.h"

namespace callslip::tracker {
namespace {

// In the order of TurnEnd.
constexpr const char* kOutcomes[] = {"completed", "failed", "cancelled"};

// Members that may be absent are, where they are empty.
void SetUnlessEmpty(FileJson& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

// Sets raw JSON, in the form in which it will be read again.
absl::Status SetRaw(FileJson& object, const char* key, const std::string& text) {
  if (text.empty()) return absl::OkStatus();
  const std::optional<Json> json = ParseJson(text);
  if (!json.has_value()) return InvalidField(key, "is no JSON, or nests too deep");
  object[key] = *json;
  return absl::OkStatus();
}

// The data of each type, written…
struct DataOf {
  absl::StatusOr<FileJson> operator()(const SessionStart& e) const {
    FileJson data{
        {"session_id", e.session_id}, {"acp_server", e.acp_server}, {"working_dir", e.working_dir}};
    SetUnlessEmpty(data, "owner", e.owner);
    return data;
  }
  absl::StatusOr<FileJson> operator()(const SessionEnd& e) const {
    FileJson data{{"reason", e.reason}};
    if (e.event_count.has_value()) data["event_count"] = *e.event_count;
    return data;
  }
  absl::StatusOr<FileJson> operator()(const UserPrompt& e) const {
    FileJson data{{"message", e.message}};
    for (const ImageRef& image : e.images) {
      FileJson one{{"id", image.id}};
      SetUnlessEmpty(one, "name", image.name);
      SetUnlessEmpty(one, "mime_type", image.mime_type);
      data["images"].push_back(std::move(one));
    }
    SetUnlessEmpty(data, "prompt_id", e.prompt_id);
    SetUnlessEmpty(data, "queue_id", e.queue_id);
    return data;
  }
  absl::StatusOr<FileJson> operator()(const AgentMessage& e) const {
    FileJson data{{"text", e.text}};
    SetUnlessEmpty(data, "message_id", e.message_id);
    // The last one: the log is searched for it from the ends of its lines.
    if (e.iteration.has_value()) data["iteration"] = *e.iteration;
    return data;
  }
  absl::StatusOr<FileJson> operator()(const AgentThought& e) const {
    FileJson data{{"text", e.text}};
    SetUnlessEmpty(data, "message_id", e.message_id);
    return data;
  }
  absl::StatusOr<FileJson> operator()(const ToolCall& e) const {
    FileJson data{{"tool_call_id", e.tool_call_id}, {"title", e.title}, {"status", e.status}};
    SetUnlessEmpty(data, "kind", e.kind);
    RETURN_IF_ERROR(SetRaw(data, "raw_input", e.raw_input));
    RETURN_IF_ERROR(SetRaw(data, "raw_output", e.raw_output));
    RETURN_IF_ERROR(SetRaw(data, "content", e.content));
    RETURN_IF_ERROR(SetRaw(data, "locations", e.locations));
    SetUnlessEmpty(data, "name", e.name);
    return data;
  }
  absl::StatusOr<FileJson> operator()(const ToolCallUpdate& e) const {
    FileJson data{{"tool_call_id", e.tool_call_id}};
    if (e.status.has_value()) data["status"] = *e.status;
    if (e.title.has_value()) data["title"] = *e.title;
    if (e.kind.has_value()) data["kind"] = *e.kind;
    RETURN_IF_ERROR(SetRaw(data, "raw_input", e.raw_input.value_or("")));
    RETURN_IF_ERROR(SetRaw(data, "raw_output", e.raw_output.value_or("")));
    RETURN_IF_ERROR(SetRaw(data, "content", e.content.value_or("")));
    RETURN_IF_ERROR(SetRaw(data, "locations", e.locations.value_or("")));
    return data;
  }
  absl::StatusOr<FileJson> operator()(const Plan& e) const {
    FileJson data{{"entries", FileJson::array()}};
    for (const PlanEntry& entry : e.entries) {
      data["entries"].push_back(FileJson{
          {"content", entry.content}, {"priority", entry.priority}, {"status", entry.status}});
    }
    return data;
  }
  absl::StatusOr<FileJson> operator()(const PermissionRecord& e) const {
    FileJson data{
        {"title", e.title}, {"selected_option", e.selected_option}, {"outcome", e.outcome}};
    SetUnlessEmpty(data, "permission_id", e.permission_id);
    SetUnlessEmpty(data, "tool_call_id", e.tool_call_id);
    SetUnlessEmpty(data, "decided_by", e.decided_by);
    return data;
  }
  absl::StatusOr<FileJson> operator()(const FileRead& e) const {
    return FileJson{{"path", e.path}, {"size", e.size}};
  }
  absl::StatusOr<FileJson> operator()(const FileWrite& e) const {
    return FileJson{{"path", e.path}, {"size", e.size}};
  }
  absl::StatusOr<FileJson> operator()(const ErrorEvent& e) const {
    FileJson data{{"message", e.message}};
    SetUnlessEmpty(data, "code", e.code);
    return data;
  }
  absl::StatusOr<FileJson> operator()(const OtherEvent& e) const {
    if (e.type.empty() || e.type.size() > kMaxTypeBytes) {
      return InvalidField("type", absl::StrCat("has to have 1 to ", kMaxTypeBytes, " bytes"));
    }
    const std::optional<Json> data = ParseJson(e.data);
    if (!data.has_value()) return InvalidField("data", "is no JSON, or nests too deep");
    return FileJson(*data);
  }
};

bool HasStrings(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const Json* member = Find(object, key);
    if (member == nullptr || !member->is_string()) return false;
  }
  return true;
}

std::optional<std::string> OptionalString(const Json& object, const char* key) {
  const Json* member = Find(object, key);
  if (member == nullptr || !member->is_string()) return std::nullopt;
  return member->get<std::string>();
}

std::string RawAt(const Json& object, const char* key) {
  const Json* member = Find(object, key);
  return member == nullptr ? "" : Dump(*member);
}

std::optional<std::string> OptionalRaw(const Json& object, const char* key) {
  const Json* member = Find(object, key);
  if (member == nullptr) return std::nullopt;
  return Dump(*member);
}

std::optional<EventPayload> PlanOf(const Json& data) {
  const Json* entries = Find(data, "entries");
  if (entries == nullptr || !entries->is_array()) return std::nullopt;
  Plan plan;
  for (const Json& entry : *entries) {
    if (!HasStrings(entry, {"content"})) return std::nullopt;
    plan.entries.push_back(
        {StringAt(entry, "content"), StringAt(entry, "priority"), StringAt(entry, "status")});
  }
  return plan;
}

UserPrompt PromptOf(const Json& data) {
  UserPrompt prompt{.message = StringAt(data, "message"),
                    .prompt_id = StringAt(data, "prompt_id"),
                    .queue_id = StringAt(data, "queue_id")};
  const Json* images = Find(data, "images");
  if (images == nullptr || !images->is_array()) return prompt;
  for (const Json& image : *images) {
    if (image.is_string()) {
      prompt.images.push_back({.id = image.get<std::string>()});
    } else {
      prompt.images.push_back(
          {StringAt(image, "id"), StringAt(image, "name"), StringAt(image, "mime_type")});
    }
  }
  return prompt;
}

// …and read. Nothing where something is missing that each of the type has.
std::optional<EventPayload> PayloadOf(absl::string_view type, const Json& data) {
  if (type == "agent_message" && HasStrings(data, {"text"})) {
    AgentMessage message{.text = StringAt(data, "text"),
                         .message_id = StringAt(data, "message_id")};
    if (Find(data, "iteration") != nullptr) message.iteration = IntAt(data, "iteration");
    return message;
  }
  if (type == "agent_thought" && HasStrings(data, {"text"})) {
    return AgentThought{StringAt(data, "text"), StringAt(data, "message_id")};
  }
  if (type == "tool_call" && HasStrings(data, {"tool_call_id", "title", "status"})) {
    return ToolCall{
        StringAt(data, "tool_call_id"), StringAt(data, "title"),  StringAt(data, "status"),
        StringAt(data, "kind"),         RawAt(data, "raw_input"), RawAt(data, "raw_output"),
        RawAt(data, "content"),         RawAt(data, "locations"), StringAt(data, "name")};
  }
  if (type == "tool_call_update" && HasStrings(data, {"tool_call_id"})) {
    return ToolCallUpdate{StringAt(data, "tool_call_id"), OptionalString(data, "status"),
                          OptionalString(data, "title"),  OptionalString(data, "kind"),
                          OptionalRaw(data, "raw_input"), OptionalRaw(data, "raw_output"),
                          OptionalRaw(data, "content"),   OptionalRaw(data, "locations")};
  }
  if (type == "user_prompt" && HasStrings(data, {"message"})) return PromptOf(data);
  if (type == "plan") return PlanOf(data);
  if (type == "permission" && HasStrings(data, {"title", "selected_option", "outcome"})) {
    return PermissionRecord{StringAt(data, "title"),        StringAt(data, "selected_option"),
                            StringAt(data, "outcome"),      StringAt(data, "permission_id"),
                            StringAt(data, "tool_call_id"), StringAt(data, "decided_by")};
  }
  if (type == "file_read" && HasStrings(data, {"path"})) {
    return FileRead{StringAt(data, "path"), IntAt(data, "size")};
  }
  if (type == "file_write" && HasStrings(data, {"path"})) {
    return FileWrite{StringAt(data, "path"), IntAt(data, "size")};
  }
  if (type == "error" && HasStrings(data, {"message"})) {
    return ErrorEvent{StringAt(data, "message"), StringAt(data, "code")};
  }
  if (type == "session_start" && HasStrings(data, {"session_id"})) {
    return SessionStart{StringAt(data, "session_id"), StringAt(data, "acp_server"),
                        StringAt(data, "working_dir"), StringAt(data, "owner")};
  }
  if (type == "session_end" && HasStrings(data, {"reason"})) {
    SessionEnd end{.reason = StringAt(data, "reason")};
    if (Find(data, "event_count") != nullptr) end.event_count = IntAt(data, "event_count");
    return end;
  }
  return std::nullopt;
}

// The same, but only where nothing would be lost or added by it.
std::optional<EventPayload> ExactPayloadOf(absl::string_view type, const Json& data) {
  std::optional<EventPayload> payload = PayloadOf(type, data);
  if (!payload.has_value()) return std::nullopt;
  const absl::StatusOr<FileJson> written = std::visit(DataOf(), *payload);
  // As texts: 1 and 1.0 are equal numbers, but not the same data.
  if (!written.ok() || Dump(Json(*written)) != Dump(data)) return std::nullopt;
  return payload;
}

// What stands before the next quote. Nothing for what has escapes.
std::optional<absl::string_view> TakeQuoted(absl::string_view& text) {
  const size_t end = text.find('"');
  if (end == absl::string_view::npos) return std::nullopt;
  const absl::string_view quoted = text.substr(0, end);
  if (absl::StrContains(quoted, "\\")) return std::nullopt;
  text.remove_prefix(end);
  return quoted;
}

std::optional<EventHead> DecodeOurHead(absl::string_view line) {
  if (!absl::EndsWith(line, "}") || !absl::ConsumePrefix(&line, "{\"seq\":")) return std::nullopt;
  size_t digits = 0;
  while (digits < line.size() && absl::ascii_isdigit(static_cast<unsigned char>(line[digits]))) {
    ++digits;
  }
  EventHead head;
  if (!absl::SimpleAtoi(line.substr(0, digits), &head.seq)) return std::nullopt;
  line.remove_prefix(digits);
  if (!absl::ConsumePrefix(&line, ",\"type\":\"")) return std::nullopt;
  const std::optional<absl::string_view> type = TakeQuoted(line);
  if (!type.has_value()) return std::nullopt;
  head.type = std::string(*type);
  if (!absl::ConsumePrefix(&line, "\",\"timestamp\":\"")) return std::nullopt;
  const std::optional<absl::string_view> text = TakeQuoted(line);
  if (!text.has_value() || !absl::ConsumePrefix(&line, "\",\"data\":")) return std::nullopt;
  const std::optional<absl::Time> timestamp = ParseTimestamp(*text);
  if (!timestamp.has_value()) return std::nullopt;
  head.timestamp = *timestamp;
  return head;
}

}  // namespace

absl::StatusOr<std::string> EncodeEvent(int64_t seq, absl::Time timestamp,
                                        const EventPayload& payload) {
  ASSIGN_OR_RETURN(const FileJson data, std::visit(DataOf(), payload));
  return absl::StrCat(
      "{\"seq\":", seq, ",\"type\":", Dump(FileJson(std::string(EventTypeOf(payload)))),
      ",\"timestamp\":\"", FormatTimestamp(timestamp), "\",\"data\":", Dump(data), "}\n");
}

std::optional<EventHead> DecodeHead(absl::string_view line) {
  if (std::optional<EventHead> head = DecodeOurHead(line); head.has_value()) return head;
  const std::optional<Json> json = ParseJson(line);
  if (!json.has_value()) return std::nullopt;
  EventHead head{.seq = IntAt(*json, "seq"), .type = StringAt(*json, "type")};
  const std::optional<absl::Time> timestamp = TimeAt(*json, "timestamp");
  if (head.seq <= 0 || head.type.empty() || !timestamp.has_value()) return std::nullopt;
  head.timestamp = *timestamp;
  return head;
}

EventPtr DecodeEvent(const EventHead& head, absl::string_view line) {
  auto event = std::make_shared<SessionEvent>();
  event->seq = head.seq;
  event->timestamp = head.timestamp;
  event->bytes = line.size() + 1;
  const std::optional<Json> json = ParseJson(line);
  const Json* data = json.has_value() ? Find(*json, "data") : nullptr;
  std::optional<EventPayload> payload;
  if (data != nullptr) payload = ExactPayloadOf(head.type, *data);
  event->payload = payload.has_value()
                       ? *std::move(payload)
                       : OtherEvent{head.type, data == nullptr ? "null" : Dump(*data)};
  return event;
}

OtherEvent EncodeTurnEnd(const EndedTurn& turn) {
  FileJson data{{"turn_id", turn.turn_id},
                {"outcome", kOutcomes[static_cast<size_t>(turn.outcome.end)]}};
  SetUnlessEmpty(data, "reason", turn.outcome.reason);
  SetUnlessEmpty(data, "stop_reason", turn.outcome.stop_reason);
  const std::optional<Json> usage = ParseJson(turn.outcome.usage);
  if (usage.has_value()) data["usage"] = *usage;
  return {kTurnEndType, Dump(data)};
}

std::optional<EndedTurn> DecodeTurnEnd(const OtherEvent& event) {
  const std::optional<Json> data = ParseJson(event.data);
  if (event.type != kTurnEndType || !data.has_value()) return std::nullopt;
  EndedTurn turn{.turn_id = StringAt(*data, "turn_id")};
  turn.outcome.reason = StringAt(*data, "reason");
  const std::string outcome = StringAt(*data, "outcome");
  for (size_t i = 0; i < std::size(kOutcomes); ++i) {
    if (outcome != kOutcomes[i]) continue;
    turn.outcome.end = static_cast<TurnEnd>(i);
    return turn;
  }
  return std::nullopt;
}

namespace {

// Whether reading the line may give another event than the one it was made of.
bool ChangesWhenRead(const EventPayload& payload, absl::string_view line) {
  return std::holds_alternative<ToolCall>(payload) || std::holds_alternative<OtherEvent>(payload) ||
         absl::StrContains(line, "\xEF\xBF\xBD");
}

}  // namespace

absl::StatusOr<std::vector<EncodedEvent>> EncodeEvents(int64_t first_seq, absl::Time now,
                                                       std::vector<EventPayload> payloads) {
  std::vector<EncodedEvent> events(payloads.size());
  for (size_t i = 0; i < payloads.size(); ++i) {
    const int64_t seq = first_seq + static_cast<int64_t>(i);
    std::string& line = events[i].line;
    ASSIGN_OR_RETURN(line, EncodeEvent(seq, now, payloads[i]));
    if (line.size() > kMaxEventBytes) return EventTooLarge(line.size(), kMaxEventBytes);
  }
  for (size_t i = 0; i < payloads.size(); ++i) {
    const int64_t seq = first_seq + static_cast<int64_t>(i);
    const absl::string_view line = events[i].line;
    if (ChangesWhenRead(payloads[i], line)) {
      events[i].event = DecodeEvent({seq, std::string(EventTypeOf(payloads[i])), now},
                                    line.substr(0, line.size() - 1));
    } else {
      events[i].event = std::make_shared<SessionEvent>(SessionEvent{
          .seq = seq, .timestamp = now, .payload = std::move(payloads[i]), .bytes = line.size()});
    }
  }
  return events;
}

}  // namespace callslip::tracker
