#include "gateway/mcp/tools/session_answer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "gateway/json/json_members.h"
#include "gateway/tracker_client/request_about.h"

namespace callslip::gateway {
namespace {

constexpr size_t kMaxFiles = 50;
// How far back to search for the beginning of a turn; a page has at most 1 MiB.
constexpr int kTurnPage = 500;
constexpr int kMaxTurnPages = 8;

bool ChangesFiles(const std::string& kind) {
  return kind == "edit" || kind == "delete" || kind == "move";
}

bool IsPrompt(const v1::SessionEvent& event) { return event.type() == "user_prompt"; }

// Adds the paths of a tool call's `locations`, as the Agent Client Protocol defines them.
void AddPaths(const Json& call, std::set<std::string>& files) {
  const Json places = call.value("locations", Json());
  if (!places.is_array()) return;
  for (const Json& place : places) {
    const std::string path = TextOf(place, "path");
    if (!path.empty() && files.size() < kMaxFiles) files.insert(path);
  }
}

}  // namespace

Json LastAnswerJson(const std::vector<v1::SessionEvent>& events, size_t max_bytes) {
  const auto prompt = std::find_if(events.rbegin(), events.rend(), IsPrompt);
  std::string text;
  std::set<std::string> files;
  std::optional<std::string> message_id;  // The message that the next piece may continue.
  Json json = Json::object();
  // Starts after the prompt, or at the first event if there is none.
  for (auto event = prompt.base(); event != events.end(); ++event) {
    const std::string& type = event->type();
    if (type != "agent_message" && type != "file_write" && type != "tool_call" &&
        type != "turn_end") {
      continue;
    }
    const Json data = JsonOrText(event->data());
    if (type == "agent_message") {
      const std::string id = TextOf(data, "message_id");
      if (!text.empty() && message_id != id) text += "\n\n";
      text += TextOf(data, "text");
      message_id = id;
    } else if (type == "file_write") {
      const std::string path = TextOf(data, "path");
      if (!path.empty() && files.size() < kMaxFiles) files.insert(path);
    } else if (type == "tool_call") {
      if (ChangesFiles(TextOf(data, "kind"))) AddPaths(data, files);
      message_id.reset();
    } else {
      for (const char* member : {"outcome", "reason"}) {
        const std::string said = TextOf(data, member);
        if (!said.empty()) json[member] = said;
      }
    }
  }
  if (text.size() > max_bytes) {
    size_t from = text.size() - max_bytes;
    // To the next character, so that none is split.
    while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
    json["omitted_bytes"] = from;
    text.erase(0, from);
  }
  json["text"] = std::move(text);
  if (!files.empty()) json["files"] = files;
  return json;
}

boost::asio::awaitable<absl::StatusOr<std::vector<v1::SessionEvent>>> ReadLastTurn(
    TrackerCalls& sessions, std::string client, std::string session_id) {
  std::vector<v1::SessionEvent> turn;
  int64_t before = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < kMaxTurnPages; ++i) {
    auto request = RequestAbout<v1::ReadEventsRequest>(client, session_id);
    request.set_before_seq(before);
    request.set_limit(kTurnPage);
    auto page = co_await sessions.Call(std::move(request));
    if (!page.ok()) co_return page.status();
    auto& events = *page->mutable_events();
    if (events.empty()) break;
    before = events[0].seq();
    const bool begins = absl::c_any_of(events, IsPrompt);
    turn.insert(turn.begin(), std::make_move_iterator(events.begin()),
                std::make_move_iterator(events.end()));
    if (begins || !page->has_more()) break;
  }
  co_return turn;
}

}  // namespace callslip::gateway
