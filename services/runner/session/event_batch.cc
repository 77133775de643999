#include "runner/session/event_batch.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/text_scan.h"
#include "runner/acp/messages_v1.h"

namespace callslip::runner {
namespace {

constexpr size_t kMaxWordBytes = 64;  // A kind, a status, a priority, the type of an event.
constexpr char kAgentMessage[] = "agent_message";
constexpr char kAgentThought[] = "agent_thought";
constexpr char kToolCallUpdate[] = "tool_call_update";

std::string Cut(absl::string_view text, size_t bytes) { return std::string(CutText(text, bytes)); }

size_t ValuesIn(const Json& json) {
  size_t values = 1;
  if (json.is_structured()) {
    for (const Json& member : json) values += ValuesIn(member);
  }
  return values;
}

// No value is shorter than a digit and a comma.
bool Fits(const Json& json, size_t bytes, size_t max_values) {
  return bytes <= kMaxJsonBytes && (bytes <= 2 * max_values || ValuesIn(json) <= max_values);
}

// Subtracts the number of values from `room`.
std::string Text(const Json& json, size_t& room) {
  std::string text = Dump(json);
  if (Fits(json, text.size(), room)) {
    room -= std::min(room, ValuesIn(json));
    return text;
  }
  const std::string omitted = absl::StrCat("omitted: ", text.size(), " bytes");
  return json.is_array() ? Json::array({acp::TextBlock(omitted)}).dump() : Json(omitted).dump();
}

NewEvent OtherEvent(std::string type, const Json& data) {
  if (!data.is_object()) return NewEvent(std::move(type));
  const size_t bytes = Dump(data).size();
  if (Fits(data, bytes, kMaxEventValues)) return {std::move(type), data};
  NewEvent event(std::move(type));
  event.Set("left_out", "data").Set("bytes", bytes);
  return event;
}

struct Recorded {
  std::vector<NewEvent>& events;

  NewEvent& Add(std::string type) { return events.emplace_back(std::move(type)); }

  void operator()(const MessagePiece& piece) {
    if (piece.role == MessagePiece::Role::kUser) return;
    if (TextOf(piece.content, "type") != "text") {
      events.push_back(OtherEvent("agent_content", Json{{"content", piece.content}}));
      return;
    }
    const char* type = piece.role == MessagePiece::Role::kThought ? kAgentThought : kAgentMessage;
    const std::string whole = TextOf(piece.content, "text");
    absl::string_view left = whole;
    do {
      const absl::string_view part = CutText(left, EventBatch::kMaxMergedBytes);
      left.remove_prefix(part.size());
      Add(type)
          .Set("text", std::string(part))
          .SetUnlessEmpty("message_id", IdText(piece.message_id));
    } while (!left.empty());
  }
  void operator()(const ToolCall& call) {
    NewEvent& to = Add("tool_call");
    to.Set("tool_call_id", IdText(call.id))
        .Set("title", Cut(call.title, kMaxTitleBytes))
        .Set("status", Cut(call.status, kMaxWordBytes))
        .SetUnlessEmpty("kind", Cut(call.kind, kMaxWordBytes))
        .SetUnlessEmpty("name", Cut(call.name, kMaxIdBytes));
    SetDetails(call, to);
  }
  void operator()(const ToolCallChange& change) {
    NewEvent& to = Add(kToolCallUpdate);
    to.Set("tool_call_id", IdText(change.id));
    if (change.status.has_value()) to.Set("status", Cut(*change.status, kMaxWordBytes));
    if (change.title.has_value()) to.Set("title", Cut(*change.title, kMaxTitleBytes));
    if (change.kind.has_value()) to.Set("kind", Cut(*change.kind, kMaxWordBytes));
    SetDetails(change, to);
  }
  void operator()(const Plan& plan) {
    Json entries = Json::array();
    for (const Plan::Entry& entry : plan.entries) {
      if (entries.size() == kMaxPlanEntries) break;
      entries.push_back({{"content", Cut(entry.content, kMaxPlanTextBytes)},
                         {"priority", Cut(entry.priority, kMaxWordBytes)},
                         {"status", Cut(entry.status, kMaxWordBytes)}});
    }
    Add("plan").Set("entries", entries);
  }
  void operator()(const OtherUpdate& other) {
    // The tracker accepts types of up to 64 bytes. The types of messages are reserved for messages.
    std::string type = Cut(absl::StrCat("agent_", other.kind), kMaxWordBytes);
    const bool is_taken = other.kind.empty() || type == kAgentMessage || type == kAgentThought;
    events.push_back(OtherEvent(is_taken ? "agent_update" : std::move(type), other.data));
  }
  void operator()(const AvailableCommands&) {}
  void operator()(const CurrentMode&) {}
  void operator()(const ConfigOptions&) {}
  void operator()(const SessionTitle&) {}
  void operator()(const Usage&) {}

  template <typename Call>
  static void SetDetails(const Call& call, NewEvent& event) {
    size_t room = kMaxEventValues;
    const auto set = [&](const char* name, const Json& value) {
      if (!value.is_null()) event.SetJson(name, Text(value, room));
    };
    set("locations", call.locations);
    set("raw_input", call.raw_input);
    set("raw_output", call.raw_output);
    set("content", call.content);
  }
};

// Whether the chunks belong to one message and one answer.
bool Continues(const NewEvent& piece, const NewEvent& before) {
  return piece.Find("message_id") == before.Find("message_id") &&
         piece.Find("iteration") == before.Find("iteration") &&
         before.bytes() + piece.bytes() <= EventBatch::kMaxMergedBytes;
}

// Whether the updates can be merged: each status of a tool call stays visible.
bool Continues(const NewEvent& change, const NewEvent& before, absl::string_view status) {
  return change.Find("tool_call_id") == before.Find("tool_call_id") &&
         (status.empty() || before.Find("status").empty() || status == before.Find("status")) &&
         before.bytes() + change.bytes() <= EventBatch::kMaxMergedBytes;
}

}  // namespace

std::string IdText(absl::string_view id) {
  if (id.size() <= kMaxIdBytes) return std::string(id);
  const std::string number = absl::StrCat(
      "#", absl::Hex(std::hash<std::string_view>()(std::string_view(id.data(), id.size()))));
  return absl::StrCat(CutText(id, kMaxIdBytes - number.size()), number);
}

v1::SessionEvent LeftOut(const v1::SessionEvent& refused, absl::string_view why) {
  return NewEvent("agent_update")
      .Set("left_out", refused.type())
      .Set("bytes", refused.ByteSizeLong())
      .Set("why", Cut(why, kMaxPlanTextBytes))
      .ToProto();
}

std::optional<std::string> AgentTextOf(const AgentUpdate& update) {
  const auto* piece = std::get_if<MessagePiece>(&update);
  if (piece == nullptr || piece->role != MessagePiece::Role::kAgent ||
      TextOf(piece->content, "type") != "text") {
    return std::nullopt;
  }
  return TextOf(piece->content, "text");
}

std::vector<NewEvent> EventsOf(const AgentUpdate& update) {
  std::vector<NewEvent> events;
  std::visit(Recorded{events}, update);
  return events;
}

void EventBatch::Add(NewEvent event) {
  if (Merge(event)) return;
  bytes_ += event.bytes();
  events_.push_back(std::move(event));
}

bool EventBatch::Merge(const NewEvent& event) {
  if (events_.empty() || events_.back().type() != event.type()) return false;
  NewEvent& last = events_.back();
  const size_t before = last.bytes();
  if (event.type() == kToolCallUpdate) {
    if (!Continues(event, last, event.Find("status"))) return false;
    last.Merge(event);
  } else if (event.type() == kAgentMessage || event.type() == kAgentThought) {
    if (!Continues(event, last)) return false;
    last.Append("text", event);
  } else {
    return false;
  }
  bytes_ += last.bytes() - before;
  return true;
}

std::vector<v1::SessionEvent> EventBatch::Take() {
  std::vector<v1::SessionEvent> events;
  size_t bytes = 0;
  while (!events_.empty() && events.size() < kMaxEvents) {
    const size_t more = events_.front().bytes();
    if (!events.empty() && bytes + more > kMaxBytes) break;
    bytes += more;
    events.push_back(events_.front().ToProto());
    events_.pop_front();
  }
  bytes_ -= bytes;
  return events;
}

}  // namespace callslip::runner
