#include "tracker/storage/event_json.h"

#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/json_string.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/storage/json.h"

namespace callslip::tracker {
namespace {

// The depth to which the gateway reads JSON. Older lines can be deeper.
constexpr int kMaxDataDepth = 64;
constexpr int kMaxLineDepth = 81;
// The gateway's limit.
constexpr int64_t kMaxIteration = std::numeric_limits<int32_t>::max();
constexpr char kUserPromptType[] = "user_prompt";
constexpr char kAgentMessageType[] = "agent_message";
constexpr char kToolCallType[] = "tool_call";
constexpr char kToolCallUpdateType[] = "tool_call_update";
// In the order of TurnEnd.
constexpr const char* kOutcomes[] = {"completed", "failed", "cancelled"};

struct EventText {
  std::string type;
  std::string data;
  EventFacts facts;
};

void SetUnlessEmpty(FileJson& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

std::string StringOf(JsonMembers members, absl::string_view name) {
  return DecodeJsonString(FindMember(members, name).value_or("")).value_or("");
}

std::optional<int64_t> IntegerOf(JsonMembers members, absl::string_view name) {
  int64_t value = 0;
  const absl::string_view text = FindMember(members, name).value_or("");
  if (!IsJsonInteger(text) || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

// The ids of a prompt's images, each given as an object with an `id` or as an id.
std::vector<std::string> ImageIdsOf(JsonMembers members) {
  std::vector<std::string> ids;
  const std::optional<Json> images = ParseJson(FindMember(members, "images").value_or("[]"));
  if (!images.has_value() || !images->is_array()) return ids;
  for (const Json& image : *images) {
    ids.push_back(image.is_string() ? image.get<std::string>() : TextOf(image, "id"));
  }
  return ids;
}

EventFacts FactsOf(absl::string_view type, JsonMembers data) {
  EventFacts facts;
  if (type == kUserPromptType) {
    facts.prompt = {.prompt_id = StringOf(data, "prompt_id"),
                    .queue_id = StringOf(data, "queue_id"),
                    .content = ContentOf(StringOf(data, "message"), ImageIdsOf(data))};
  } else if (type == kAgentMessageType) {
    const std::optional<int64_t> iteration = IntegerOf(data, "iteration");
    if (iteration.value_or(-1) >= 0 && *iteration <= kMaxIteration) facts.iteration = iteration;
  } else if (type == kToolCallType || type == kToolCallUpdateType) {
    std::string id = StringOf(data, "tool_call_id");
    if (!id.empty() && id.size() <= kMaxToolCallIdBytes) {
      facts.tool_call = {std::move(id), StringOf(data, "status"), type == kToolCallType};
    }
  }
  return facts;
}

// The text of each kind of event.
struct TextOfEvent {
  using Result = absl::StatusOr<EventText>;

  Result operator()(const SessionStart& e) const {
    FileJson data{
        {"session_id", e.session_id}, {"acp_server", e.acp_server}, {"working_dir", e.working_dir}};
    SetUnlessEmpty(data, "owner", e.owner);
    return EventText{"session_start", Dump(data), {}};
  }
  Result operator()(const SessionEnd& e) const {
    const FileJson data{{"reason", e.reason}, {"event_count", e.event_count}};
    return EventText{"session_end", Dump(data), {}};
  }
  Result operator()(const UserPrompt& e) const {
    FileJson data{{"message", e.message}};
    std::vector<std::string> image_ids;
    for (const ImageRef& image : e.images) {
      FileJson one{{"id", image.id}};
      SetUnlessEmpty(one, "name", image.name);
      SetUnlessEmpty(one, "mime_type", image.mime_type);
      data["images"].push_back(std::move(one));
      image_ids.push_back(image.id);
    }
    SetUnlessEmpty(data, "prompt_id", e.prompt_id);
    SetUnlessEmpty(data, "queue_id", e.queue_id);
    return EventText{
        kUserPromptType,
        Dump(data),
        {.prompt = RecordedPrompt{e.prompt_id, e.queue_id, ContentOf(e.message, image_ids)}}};
  }
  Result operator()(const AgentMessage& e) const {
    FileJson data{{"text", e.text}};
    if (e.iteration.has_value()) data["iteration"] = *e.iteration;
    return EventText{kAgentMessageType, Dump(data), {.iteration = e.iteration}};
  }
  Result operator()(const ToolCall& e) const {
    FileJson data{{"tool_call_id", e.tool_call_id}, {"title", e.title}, {"status", e.status}};
    SetUnlessEmpty(data, "kind", e.kind);
    return EventText{kToolCallType,
                     Dump(data),
                     {.tool_call = EventFacts::ToolCall{e.tool_call_id, e.status, true}}};
  }
  Result operator()(const ToolCallUpdate& e) const {
    FileJson data{{"tool_call_id", e.tool_call_id}, {"status", e.status}};
    SetUnlessEmpty(data, "title", e.title);
    return EventText{kToolCallUpdateType,
                     Dump(data),
                     {.tool_call = EventFacts::ToolCall{e.tool_call_id, e.status, false}}};
  }
  Result operator()(const PermissionRecord& e) const {
    FileJson data{
        {"title", e.title}, {"selected_option", e.selected_option}, {"outcome", e.outcome}};
    SetUnlessEmpty(data, "permission_id", e.permission_id);
    SetUnlessEmpty(data, "tool_call_id", e.tool_call_id);
    SetUnlessEmpty(data, "decided_by", e.decided_by);
    return EventText{"permission", Dump(data), {}};
  }
  Result operator()(const ErrorEvent& e) const {
    FileJson data{{"message", e.message}};
    SetUnlessEmpty(data, "code", e.code);
    return EventText{"error", Dump(data), {}};
  }
  Result operator()(const EndedTurn& e) const {
    FileJson data{{"turn_id", e.turn_id},
                  {"outcome", kOutcomes[static_cast<size_t>(e.outcome.end)]}};
    SetUnlessEmpty(data, "reason", e.outcome.reason);
    SetUnlessEmpty(data, "stop_reason", e.outcome.stop_reason);
    const std::optional<Json> usage = ParseJson(e.outcome.usage);
    if (usage.has_value()) data["usage"] = *usage;
    return EventText{kTurnEndType, Dump(data), {}};
  }
  Result operator()(const ClientEvent& e) const {
    if (e.type.empty() || e.type.size() > kMaxTypeBytes) {
      return InvalidField("type", absl::StrCat("must have 1 to ", kMaxTypeBytes, " bytes"));
    }
    std::string mended;
    const absl::string_view json = MendJson(e.data, mended);
    const JsonScan scan = ScanJson(json, {}, kMaxDataDepth);
    if (!scan.error.empty()) {
      return InvalidField("data", absl::StrCat("must be a JSON object of at most ", kMaxDataDepth,
                                               " levels: ", scan.error));
    }
    if (HasDuplicates(scan.members)) return InvalidField("data", "has two members of one name");
    RETURN_IF_ERROR(
        CheckSize("tool_call_id", StringOf(scan.members, "tool_call_id"), kMaxToolCallIdBytes));
    EventFacts facts = FactsOf(e.type, scan.members);
    if (facts.prompt.has_value()) {
      RETURN_IF_ERROR(CheckClientId("prompt_id", facts.prompt->prompt_id));
      RETURN_IF_ERROR(CheckClientId("queue_id", facts.prompt->queue_id));
    }
    EventText text{e.type, OnOneLine(std::string(json)), std::move(facts)};
    if (text.data.front() != '{') return InvalidField("data", "must be a JSON object");
    EscapeLineSeparators(text.data);
    return text;
  }
};

// The text before the next quote. Nullopt if it has escapes.
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
  head.type = IsUtf8(*type) ? std::string(*type) : WithoutBadUtf8(*type);
  if (!absl::ConsumePrefix(&line, "\",\"timestamp\":\"")) return std::nullopt;
  const std::optional<absl::string_view> text = TakeQuoted(line);
  if (!text.has_value() || !absl::ConsumePrefix(&line, "\",\"data\":")) return std::nullopt;
  const std::optional<absl::Time> timestamp = ParseTimestamp(*text);
  if (!timestamp.has_value()) return std::nullopt;
  head.timestamp = *timestamp;
  return head;
}

JsonScan ScanLine(absl::string_view line, absl::string_view into = {}) {
  return ScanJson(line, into, kMaxLineDepth);
}

}  // namespace

absl::StatusOr<std::vector<EncodedEvent>> EncodeEvents(int64_t first_seq, absl::Time now,
                                                       std::vector<NewEvent> events) {
  std::vector<EncodedEvent> encoded;
  encoded.reserve(events.size());
  const std::string timestamp = FormatTimestamp(now);
  for (const NewEvent& event : events) {
    ASSIGN_OR_RETURN(EventText text, std::visit(TextOfEvent(), event));
    const int64_t seq = first_seq + static_cast<int64_t>(encoded.size());
    std::string line =
        absl::StrCat("{\"seq\":", seq, ",\"type\":", Dump(FileJson(text.type)), ",\"timestamp\":\"",
                     timestamp, "\",\"data\":", text.data, "}\n");
    if (line.size() > kMaxEventBytes) return EventTooLarge(line.size(), kMaxEventBytes);
    auto recorded = std::make_shared<SessionEvent>(SessionEvent{.seq = seq,
                                                                .timestamp = now,
                                                                .type = std::move(text.type),
                                                                .data = std::move(text.data),
                                                                .bytes = line.size()});
    encoded.push_back({{std::move(recorded), std::move(text.facts)}, std::move(line)});
  }
  return encoded;
}

std::optional<EventHead> DecodeHead(absl::string_view line) {
  if (std::optional<EventHead> head = DecodeOurHead(line); head.has_value()) return head;
  const JsonScan scan = ScanLine(line);
  if (!scan.error.empty()) return std::nullopt;
  EventHead head{.seq = IntegerOf(scan.members, "seq").value_or(0),
                 .type = StringOf(scan.members, "type")};
  const std::optional<absl::Time> timestamp = ParseTimestamp(StringOf(scan.members, "timestamp"));
  if (head.seq <= 0 || head.type.empty() || !timestamp.has_value()) return std::nullopt;
  head.timestamp = *timestamp;
  return head;
}

EventPtr DecodeEvent(const EventHead& head, absl::string_view line) {
  const JsonScan scan = ScanLine(line);
  const absl::string_view data = FindMember(scan.members, "data").value_or("");
  const bool is_object = scan.error.empty() && absl::StartsWith(data, "{");
  auto event = std::make_shared<SessionEvent>(
      SessionEvent{.seq = head.seq,
                   .timestamp = head.timestamp,
                   .type = head.type,
                   .data = is_object ? OnOneLine(std::string(data)) : "{}",
                   .bytes = line.size() + 1});
  EscapeLineSeparators(event->data);
  return event;
}

EventLine::EventLine(absl::string_view line) : scan_(ScanLine(line, /*into=*/"data")) {}

EventFacts EventLine::FactsOf(absl::string_view type) const {
  if (!scan_.error.empty()) return {};
  return tracker::FactsOf(type, InnerMembers(scan_.members, "data"));
}

std::string EventLine::Text(absl::string_view name) const {
  return StringOf(InnerMembers(scan_.members, "data"), name);
}

std::optional<EndedTurn> EventLine::Turn() const {
  const std::string outcome = Text("outcome");
  for (size_t i = 0; i < std::size(kOutcomes); ++i) {
    if (outcome != kOutcomes[i]) continue;
    return EndedTurn{Text("turn_id"), {.end = static_cast<TurnEnd>(i), .reason = Text("reason")}};
  }
  return std::nullopt;
}

}  // namespace callslip::tracker
