#include "gateway/mcp/session_answer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

constexpr size_t kMaxFiles = 50;
// How far back the beginning of a turn is looked for; a page has at most 1 MiB.
constexpr int kTurnPage = 500;
constexpr int kMaxTurnPages = 8;

bool ChangesFiles(const std::string& kind) {
  return kind == "edit" || kind == "delete" || kind == "move";
}

// The paths in a list of places, as the Agent Client Protocol has them.
void AddPaths(const std::string& locations, std::set<std::string>& files) {
  const Json json = Json::parse(locations, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return;
  for (const Json& place : json) {
    const std::string path = TextOf(place, "path");
    if (!path.empty() && files.size() < kMaxFiles) files.insert(path);
  }
}

// Goes on to the next character, so that none is cut.
size_t CharacterFrom(const std::string& text, size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

}  // namespace

Json LastAnswerJson(const std::vector<v1::SessionEvent>& events, size_t max_bytes) {
  const auto prompt = std::find_if(events.rbegin(), events.rend(),
                                   [](const auto& event) { return event.has_user_prompt(); });
  std::string text;
  std::set<std::string> files;
  const v1::AgentMessageEvent* before = nullptr;  // The piece that this one may go on from.
  Json json = Json::object();
  // From behind the prompt; from the first one where there is none.
  for (auto event = prompt.base(); event != events.end(); ++event) {
    if (event->has_agent_message()) {
      const v1::AgentMessageEvent& piece = event->agent_message();
      const bool goes_on = before != nullptr && before->message_id() == piece.message_id();
      if (!text.empty() && !goes_on) text += "\n\n";
      text += piece.text();
      before = &piece;
      continue;
    }
    if (event->has_file_write() && files.size() < kMaxFiles) {
      files.insert(event->file_write().path());
    }
    if (event->has_tool_call()) {
      if (ChangesFiles(event->tool_call().kind())) AddPaths(event->tool_call().locations(), files);
      before = nullptr;
    }
    if (event->has_other() && event->other().type() == "turn_end") {
      const Json end = Json::parse(event->other().data(), nullptr, /*allow_exceptions=*/false);
      for (const char* member : {"outcome", "reason"}) {
        const std::string said = TextOf(end, member);
        if (!said.empty()) json[member] = said;
      }
    }
  }
  if (text.size() > max_bytes) {
    const size_t from = CharacterFrom(text, text.size() - max_bytes);
    json["omitted_bytes"] = from;
    text.erase(0, from);
  }
  json["text"] = std::move(text);
  if (!files.empty()) json["files"] = files;
  return json;
}

boost::asio::awaitable<absl::StatusOr<std::vector<v1::SessionEvent>>> ReadLastTurn(
    SessionClient& sessions, std::string client, std::string session_id) {
  std::vector<v1::SessionEvent> turn;
  int64_t before = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < kMaxTurnPages; ++i) {
    v1::ReadEventsRequest request;
    request.set_client_id(client);
    request.set_session_id(session_id);
    request.set_before_seq(before);
    request.set_limit(kTurnPage);
    auto page = co_await sessions.Call(std::move(request));
    if (!page.ok()) co_return page.status();
    auto& events = *page->mutable_events();
    if (events.empty()) break;
    before = events[0].seq();
    const bool begins = absl::c_any_of(
        events, [](const v1::SessionEvent& event) { return event.has_user_prompt(); });
    turn.insert(turn.begin(), std::make_move_iterator(events.begin()),
                std::make_move_iterator(events.end()));
    if (begins || !page->has_more()) break;
  }
  co_return turn;
}

}  // namespace callslip::gateway
