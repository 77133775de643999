// The data of a client's event, and lines of a log. Accepted data are one line of valid JSON with
// the same value, and are read back unchanged; a readable line is an event whose data are an
// object.
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "common/text_scan.h"
#include "fuzz/require.h"
#include "tracker/storage/event_json.h"
#include "tracker/storage/json.h"

namespace callslip::tracker {
namespace {

constexpr const char* kTypes[] = {"user_prompt",      "agent_message", "tool_call",
                                  "tool_call_update", "turn_end",      "strange \"type\""};

bool AreSame(const EventFacts& a, const EventFacts& b) {
  const auto prompt = [](const EventFacts& facts) {
    return facts.prompt.has_value()
               ? std::pair(facts.prompt->prompt_id + " " + facts.prompt->queue_id,
                           facts.prompt->content)
               : std::pair(std::string("none"), size_t{0});
  };
  const auto call = [](const EventFacts& facts) {
    if (!facts.tool_call.has_value()) return std::string("none");
    return facts.tool_call->id + " " + facts.tool_call->status +
           (facts.tool_call->begins ? " begins" : "");
  };
  return prompt(a) == prompt(b) && a.iteration == b.iteration && call(a) == call(b);
}

void TryData(const std::string& data, const std::string& type) {
  std::vector<NewEvent> events;
  events.emplace_back(ClientEvent{type, data});
  const auto encoded = EncodeEvents(5, absl::FromUnixSeconds(1'769'947'200), std::move(events));
  if (!encoded.ok()) return;
  const auto& [appended, line] = encoded->front();
  Require(line.find('\n') == line.size() - 1, "an event is one line", line);
  const absl::string_view text = absl::string_view(line).substr(0, line.size() - 1);
  Require(Json::accept(text.begin(), text.end()), "a line is valid JSON", line);
  const std::optional<EventHead> head = DecodeHead(text);
  Require(head.has_value() && head->seq == 5 && head->type == type, "it has its head", line);
  Require(*DecodeEvent(*head, text) == *appended.event, "it is read back as it was", line);
  Require(AreSame(EventLine(text).FactsOf(type), appended.facts), "so are its facts", line);
  std::string mended;
  const absl::string_view json = MendJson(data, mended);
  const Json sent = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  Require(Json::parse(appended.event->data) == sent, "the data say the same", line);
}

void TryLine(absl::string_view line) {
  const std::optional<EventHead> head = DecodeHead(line);
  if (!head.has_value()) return;
  const EventPtr event = DecodeEvent(*head, line);
  Require(Json::accept(event->data) && event->data.front() == '{', "data are an object", line);
  const EventLine read(line);
  for (const char* type : kTypes) (void)read.FactsOf(type);
  (void)read.Text("owner");
  (void)read.Turn();
}

}  // namespace
}  // namespace callslip::tracker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using callslip::tracker::kTypes;
  const std::string input(reinterpret_cast<const char*>(data), size);
  for (const char* type : kTypes) callslip::tracker::TryData(input, type);
  for (const absl::string_view line : absl::StrSplit(input, '\n')) {
    callslip::tracker::TryLine(line);
    callslip::tracker::TryData(std::string(line), kTypes[line.size() % std::size(kTypes)]);
  }
  return 0;
}
