#include "gateway/json/event_cut.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/text_scan.h"

namespace callslip::gateway {
namespace {

// For `"omitted_bytes":` and its number.
constexpr size_t kNoteBytes = 32;
// The size up to which a string is not text but an ID, a status or a kind: it is not truncated
// unless there are too many of them.
constexpr size_t kShortBytes = 64;

// The size of the byte at `at` in JSON, as Dump() writes it.
size_t EscapedSize(const std::string& text, size_t at) {
  const char c = text[at];
  if (c == '"' || c == '\\' || (c >= '\b' && c <= '\r' && c != '\v')) return 2;
  if (c == '\xE2') {
    const absl::string_view character = absl::string_view(text).substr(at, 3);
    return character == "\u2028" || character == "\u2029" ? 4 : 1;
  }
  return static_cast<unsigned char>(c) < 0x20 ? 6 : 1;
}

size_t EscapedSize(const std::string& text) {
  size_t size = 0;
  for (size_t at = 0; at < text.size(); ++at) size += EscapedSize(text, at);
  return size;
}

void Cut(size_t max_escaped, std::string& text) {
  size_t keep = 0;
  for (size_t size = 0; keep < text.size(); ++keep) {
    size += EscapedSize(text, keep);
    if (size > max_escaped) break;
  }
  text.resize(CutText(text, keep).size());
}

// A string somewhere in an event.
struct Text {
  std::string* text;
  size_t size;  // Escaped.
};

void Collect(Json& json, std::vector<Text>& texts) {
  if (json.is_string()) {
    auto& text = json.get_ref<std::string&>();
    texts.push_back({&text, EscapedSize(text)});
  }
  if (!json.is_structured()) return;
  for (Json& child : json) Collect(child, texts);
}

// The size with all strings truncated to kShortBytes.
size_t LeastSize(Json& json) {
  std::vector<Text> texts;
  Collect(json, texts);
  size_t size = Dump(json).size();
  for (const Text& text : texts) size -= text.size - std::min(text.size, kShortBytes);
  return size;
}

// Omits the largest members until the event can be shortened to `max_bytes`.
void DropMembers(size_t max_bytes, Json& event) {
  size_t size = LeastSize(event);
  if (size <= max_bytes) return;
  Json& data = event["data"];
  std::vector<std::pair<size_t, std::string>> members;
  if (data.is_object()) {
    for (auto& [name, value] : data.items()) {
      const size_t around = Dump(Json(name)).size() + 2;  // Its colon and a comma.
      members.emplace_back(LeastSize(value) + around, name);
    }
  }
  std::sort(members.begin(), members.end());
  while (size > max_bytes && !members.empty()) {
    size -= members.back().first;
    data.erase(members.back().second);
    members.pop_back();
  }
}

// The maximum length at which strings of these sizes fit into `budget` together.
size_t CapFor(size_t budget, const std::vector<Text>& texts) {
  std::vector<size_t> sizes;
  sizes.reserve(texts.size());
  for (const Text& text : texts) sizes.push_back(text.size);
  std::sort(sizes.begin(), sizes.end());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t share = budget / (sizes.size() - i);
    if (sizes[i] > share) return share;
    budget -= sizes[i];
  }
  return sizes.empty() ? 0 : sizes.back();
}

}  // namespace

size_t CutEvent(size_t max_bytes, Json& event) {
  const size_t before = Dump(event).size();
  if (before <= max_bytes) return before;
  const size_t target = max_bytes - kNoteBytes;
  DropMembers(target, event);
  std::vector<Text> texts;
  Collect(event, texts);
  size_t rest = Dump(event).size();
  for (const Text& text : texts) rest -= text.size;
  const size_t cap = CapFor(target - std::min(target, rest), texts);
  for (const Text& text : texts) {
    if (text.size > cap) Cut(cap, *text.text);
  }
  event["omitted_bytes"] = before - Dump(event).size();
  return Dump(event).size();
}

size_t ReadMaxEventBytes(JsonFields& fields) {
  const auto bytes = fields.Integer("max_event_bytes", kMinCutEventBytes, kMaxCutEventBytes);
  return static_cast<size_t>(bytes.value_or(0));
}

}  // namespace callslip::gateway
