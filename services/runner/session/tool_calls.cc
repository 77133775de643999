#include "runner/session/tool_calls.h"

#include "absl/strings/string_view.h"

namespace callslip::runner {
namespace {

// All other statuses mean that the call has ended.
bool IsOpen(absl::string_view status) {
  return status.empty() || status == "pending" || status == "in_progress";
}

// Absent members of `from` are unchanged.
void Keep(const Json& from, Json& to) {
  if (from.is_null()) return;
  const size_t bytes = Dump(from).size();
  to = bytes <= ToolCalls::kMaxBytes ? from : Json();
}

void Keep(const std::optional<std::string>& from, std::optional<std::string>& to) {
  if (!from.has_value()) return;
  to = from->size() <= ToolCalls::kMaxBytes ? from : std::nullopt;
}

void Add(const char* name, const std::optional<std::string>& known,
         std::optional<std::string>& asked, Json& details) {
  if (asked.has_value() || !known.has_value()) return;
  asked = known;
  details[name] = *known;
}

void Add(const char* name, const Json& known, Json& asked, Json& details) {
  if (!asked.is_null() || known.is_null()) return;
  asked = known;
  details[name] = known;
}

}  // namespace

void ToolCalls::Forget(const std::string& id) {
  if (calls_.erase(id) > 0) std::erase(order_, id);
}

void ToolCalls::Take(const ToolCall& call) {
  // An earlier call with that id is over.
  Forget(call.id);
  if (call.id.empty() || call.id.size() > kMaxBytes || !IsOpen(call.status)) return;
  if (calls_.size() == kMaxCalls) Forget(order_.front());
  order_.push_back(call.id);
  ToolCallChange& known = calls_[call.id];
  Keep(call.title, known.title);
  // The protocol's default.
  Keep(call.kind.empty() ? "other" : call.kind, known.kind);
  Keep(call.content, known.content);
  Keep(call.locations, known.locations);
  Keep(call.raw_input, known.raw_input);
}

void ToolCalls::Take(const ToolCallChange& change) {
  const auto found = calls_.find(change.id);
  // An update cannot begin a call: this one has not begun, or has ended.
  if (found == calls_.end()) return;
  if (!IsOpen(change.status.value_or(""))) return Forget(change.id);
  ToolCallChange& known = found->second;
  Keep(change.title, known.title);
  Keep(change.kind, known.kind);
  Keep(change.content, known.content);
  Keep(change.locations, known.locations);
  Keep(change.raw_input, known.raw_input);
}

void ToolCalls::Complete(PermissionQuestion& question) const {
  const auto found = calls_.find(question.tool_call.id);
  if (found == calls_.end() || !IsOpen(question.tool_call.status.value_or(""))) return;
  const ToolCallChange& known = found->second;
  if (!question.details.is_object()) question.details = Json::object();
  ToolCallChange& asked = question.tool_call;
  Add("title", known.title, asked.title, question.details);
  Add("kind", known.kind, asked.kind, question.details);
  Add("content", known.content, asked.content, question.details);
  Add("locations", known.locations, asked.locations, question.details);
  Add("rawInput", known.raw_input, asked.raw_input, question.details);
}

}  // namespace callslip::runner
