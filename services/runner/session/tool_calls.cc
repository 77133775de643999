#include "runner/session/tool_calls.h"

#include <utility>

#include "absl/strings/string_view.h"

namespace callslip::runner {
namespace {

bool HasEnded(absl::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

// What is absent in `from` has not changed.
void Keep(const Json& from, Json& to) {
  if (from.is_null()) return;
  const size_t bytes = Dump(from).size();
  to = bytes <= ToolCalls::kMostBytes ? from : Json();
}

void Keep(const std::optional<std::string>& from, std::optional<std::string>& to) {
  if (!from.has_value()) return;
  to = from->size() <= ToolCalls::kMostBytes ? from : std::nullopt;
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

ToolCallChange& ToolCalls::Entry(const std::string& id) {
  const auto [entry, is_new] = calls_.try_emplace(id);
  ToolCallChange& call = entry->second;
  if (!is_new) return call;
  order_.push_back(id);
  if (order_.size() > kMostCalls) {
    calls_.erase(order_.front());
    order_.pop_front();
  }
  return call;
}

void ToolCalls::Forget(const std::string& id) {
  if (calls_.erase(id) > 0) std::erase(order_, id);
}

void ToolCalls::Take(const ToolCall& call) {
  // Whatever had that id is over.
  Forget(call.id);
  if (call.id.empty() || call.id.size() > kMostBytes) return;
  // The protocol's default.
  Take(ToolCallChange{.id = call.id,
                      .title = call.title,
                      .kind = call.kind.empty() ? "other" : call.kind,
                      .status = call.status,
                      .content = call.content,
                      .locations = call.locations,
                      .raw_input = call.raw_input});
}

void ToolCalls::Take(const ToolCallChange& change) {
  if (change.id.empty() || change.id.size() > kMostBytes) return;
  if (change.status.has_value() && HasEnded(*change.status)) return Forget(change.id);
  ToolCallChange& call = Entry(change.id);
  Keep(change.title, call.title);
  Keep(change.kind, call.kind);
  Keep(change.content, call.content);
  Keep(change.locations, call.locations);
  Keep(change.raw_input, call.raw_input);
}

void ToolCalls::Complete(PermissionQuestion& question) const {
  const auto found = calls_.find(question.tool_call.id);
  if (found == calls_.end()) return;
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
