#include "gateway/json/event_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gateway/json/command_json.h"
#include "gateway/json/event_cut.h"
#include "gateway/json/session_json.h"

namespace callslip::gateway {

std::string EventText(const v1::SessionEvent& event, size_t max_bytes) {
  const absl::string_view data = event.data();
  std::string text = absl::StrCat("{\"seq\":", event.seq(), ",\"timestamp\":\"",
                                  WireTime(event.time()), "\",\"type\":", Dump(event.type()),
                                  ",\"data\":", data.empty() ? "{}" : data, "}");
  if (max_bytes == 0 || text.size() <= max_bytes) return text;
  Json json = ToJson(event);
  CutEvent(max_bytes, json);
  return Dump(json);
}

std::string PageText(const v1::ReadEventsResponse& page, size_t max_event_bytes,
                     const std::string& request_id) {
  std::string text = "{\"events\":[";
  text.reserve(page.ByteSizeLong() + static_cast<size_t>(page.events_size()) * 64);
  absl::string_view separator;
  for (const v1::SessionEvent& event : page.events()) {
    absl::StrAppend(&text, separator, EventText(event, max_event_bytes));
    separator = ",";
  }
  Json rest = PlaceJson(page);
  if (!request_id.empty()) rest["request_id"] = request_id;
  absl::StrAppend(&text, "],", absl::string_view(Dump(rest)).substr(1));
  return text;
}

}  // namespace callslip::gateway
