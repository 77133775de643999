#include "runner/session/event_batch.h"

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

constexpr size_t kMaxWordBytes = 64;  // A kind, a status, a priority.

std::string Cut(absl::string_view text, size_t bytes) { return std::string(CutText(text, bytes)); }

size_t ValuesIn(const Json& json) {
  size_t values = 1;
  if (json.is_structured()) {
    for (const Json& member : json) values += ValuesIn(member);
  }
  return values;
}

std::string Text(const Json& json) {
  if (json.is_null()) return "";
  std::string text = Dump(json);
  // No value is shorter than a digit and a comma.
  const bool fits = text.size() <= kMaxJsonBytes &&
                    (text.size() <= 2 * kMaxJsonValues || ValuesIn(json) <= kMaxJsonValues);
  if (fits) return text;
  const std::string left_out = absl::StrCat("left out: ", text.size(), " bytes");
  return json.is_array() ? Json::array({acp::TextBlock(left_out)}).dump() : Json(left_out).dump();
}

void SetOther(v1::SessionEvent& event, const std::string& type, const Json& data) {
  event.mutable_other()->set_type(type);
  const std::string text = Text(data);
  event.mutable_other()->set_data(data.is_object() && text.front() == '{' ? text : "{}");
}

struct Recorded {
  v1::SessionEvent& event;

  void operator()(const MessagePiece& piece) const {
    if (piece.role == MessagePiece::Role::kUser) return;
    if (acp::TextOf(piece.content, "type") != "text") {
      return SetOther(event, "agent_content", Json{{"content", piece.content}});
    }
    if (piece.role == MessagePiece::Role::kThought) {
      event.mutable_agent_thought()->set_text(acp::TextOf(piece.content, "text"));
      event.mutable_agent_thought()->set_message_id(IdText(piece.message_id));
      return;
    }
    event.mutable_agent_message()->set_text(acp::TextOf(piece.content, "text"));
    event.mutable_agent_message()->set_message_id(IdText(piece.message_id));
  }
  void operator()(const ToolCall& call) const {
    v1::ToolCallEvent& to = *event.mutable_tool_call();
    to.set_tool_call_id(IdText(call.id));
    to.set_title(Cut(call.title, kMaxTitleBytes));
    to.set_name(Cut(call.name, kMaxIdBytes));
    to.set_kind(Cut(call.kind, kMaxWordBytes));
    to.set_status(Cut(call.status, kMaxWordBytes));
    to.set_raw_input(Text(call.raw_input));
    to.set_raw_output(Text(call.raw_output));
    to.set_content(Text(call.content));
    to.set_locations(Text(call.locations));
  }
  void operator()(const ToolCallChange& change) const {
    v1::ToolCallUpdateEvent& to = *event.mutable_tool_call_update();
    to.set_tool_call_id(IdText(change.id));
    if (change.title.has_value()) to.set_title(Cut(*change.title, kMaxTitleBytes));
    if (change.kind.has_value()) to.set_kind(Cut(*change.kind, kMaxWordBytes));
    if (change.status.has_value()) to.set_status(Cut(*change.status, kMaxWordBytes));
    if (!change.raw_input.is_null()) to.set_raw_input(Text(change.raw_input));
    if (!change.raw_output.is_null()) to.set_raw_output(Text(change.raw_output));
    if (!change.content.is_null()) to.set_content(Text(change.content));
    if (!change.locations.is_null()) to.set_locations(Text(change.locations));
  }
  void operator()(const Plan& plan) const {
    event.mutable_plan();
    for (const Plan::Entry& entry : plan.entries) {
      if (event.plan().entries_size() == kMaxPlanEntries) break;
      v1::PlanEvent::Entry& to = *event.mutable_plan()->add_entries();
      to.set_content(Cut(entry.content, kMaxPlanTextBytes));
      to.set_priority(Cut(entry.priority, kMaxWordBytes));
      to.set_status(Cut(entry.status, kMaxWordBytes));
    }
  }
  void operator()(const OtherUpdate& other) const {
    SetOther(event,
             other.kind.empty() ? "agent_update"
                                : absl::StrCat("agent_", Cut(other.kind, kMaxWordBytes)),
             other.data);
  }
  void operator()(const AvailableCommands&) const {}
  void operator()(const CurrentMode&) const {}
  void operator()(const ConfigOptions&) const {}
  void operator()(const SessionTitle&) const {}
  void operator()(const Usage&) const {}
};

// One message's pieces.
template <typename Piece>
bool MergePiece(const Piece& piece, Piece& into) {
  if (piece.message_id() != into.message_id() ||
      into.text().size() + piece.text().size() > EventBatch::kMaxMergedBytes) {
    return false;
  }
  into.mutable_text()->append(piece.text());
  return true;
}

// Of a message or a thought.
std::string* TextIn(v1::SessionEvent& event) {
  if (event.has_agent_message()) return event.mutable_agent_message()->mutable_text();
  return event.has_agent_thought() ? event.mutable_agent_thought()->mutable_text() : nullptr;
}

bool MergeChange(const v1::ToolCallUpdateEvent& change, v1::ToolCallUpdateEvent& into) {
  if (change.tool_call_id() != into.tool_call_id()) return false;
  // Whoever watches is to see each of its states.
  if (change.has_status() && into.has_status() && change.status() != into.status()) return false;
  into.MergeFrom(change);
  return true;
}

}  // namespace

std::string IdText(absl::string_view id) {
  if (id.size() <= kMaxIdBytes) return std::string(id);
  const std::string number = absl::StrCat(
      "#", absl::Hex(std::hash<std::string_view>()(std::string_view(id.data(), id.size()))));
  return absl::StrCat(CutText(id, kMaxIdBytes - number.size()), number);
}

v1::SessionEvent LeftOut(const v1::SessionEvent& refused, absl::string_view why) {
  v1::SessionEvent event;
  const auto* payload = v1::SessionEvent::descriptor()->FindFieldByNumber(refused.payload_case());
  SetOther(event, "agent_update",
           Json{{"left_out", payload == nullptr ? "" : payload->name()},
                {"bytes", refused.ByteSizeLong()},
                {"why", Cut(why, kMaxPlanTextBytes)}});
  return event;
}

v1::SessionEvent EventOf(const AgentUpdate& update) {
  v1::SessionEvent event;
  std::visit(Recorded{event}, update);
  return event;
}

void EventBatch::Add(v1::SessionEvent event) {
  if (event.payload_case() == v1::SessionEvent::PAYLOAD_NOT_SET || Merge(event)) return;
  std::string* text = TextIn(event);
  if (text != nullptr && text->size() > kMaxMergedBytes) {
    std::string whole;
    whole.swap(*text);
    absl::string_view left = whole;
    while (!left.empty()) {
      *text = std::string(CutText(left, kMaxMergedBytes));
      left.remove_prefix(text->size());
      Push(event);
    }
    return;
  }
  Push(std::move(event));
}

void EventBatch::Push(v1::SessionEvent event) {
  bytes_ += event.ByteSizeLong();
  events_.push_back(std::move(event));
}

bool EventBatch::Merge(const v1::SessionEvent& event) {
  if (events_.empty()) return false;
  v1::SessionEvent& last = events_.back();
  if (last.payload_case() != event.payload_case()) return false;
  const size_t before = last.ByteSizeLong();
  bool is_merged = false;
  if (event.has_agent_message() &&
      event.agent_message().has_iteration() == last.agent_message().has_iteration() &&
      event.agent_message().iteration() == last.agent_message().iteration()) {
    is_merged = MergePiece(event.agent_message(), *last.mutable_agent_message());
  } else if (event.has_agent_thought()) {
    is_merged = MergePiece(event.agent_thought(), *last.mutable_agent_thought());
  } else if (event.has_tool_call_update()) {
    is_merged = MergeChange(event.tool_call_update(), *last.mutable_tool_call_update());
  }
  bytes_ += last.ByteSizeLong() - before;
  return is_merged;
}

std::vector<v1::SessionEvent> EventBatch::Take() {
  std::vector<v1::SessionEvent> events;
  size_t bytes = 0;
  while (!events_.empty() && events.size() < kMaxEvents) {
    const size_t more = events_.front().ByteSizeLong();
    if (!events.empty() && bytes + more > kMaxBytes) break;
    bytes += more;
    events.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  bytes_ -= bytes;
  return events;
}

}  // namespace callslip::runner
