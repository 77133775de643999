#include "gateway/extension/worker_status.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

// More than users keep open.
constexpr size_t kMaxTabs = 200;
// A UTF-16 unit takes at most three bytes of UTF-8: 200 and 2,000 units.
constexpr size_t kMaxTitleBytes = 600;
constexpr size_t kMaxUrlBytes = 6000;
// The most that the tracker accepts.
constexpr size_t kMaxTabsBytes = size_t{256} << 10;

Json KeptTab(const Json& tab) {
  Json kept = Json::object();
  for (const char* field : {"tab_id", "window_id"}) {
    if (MemberOf(tab, field).is_number_integer()) kept[field] = MemberOf(tab, field);
  }
  kept["active"] = IsTrue(tab, "active");
  kept["title"] = std::string(CutText(TextOf(tab, "title"), kMaxTitleBytes));
  kept["url"] = std::string(CutText(TextOf(tab, "url"), kMaxUrlBytes));
  return kept;
}

}  // namespace

std::string KeptTabs(const Json& tabs) {
  std::string kept = "[";
  for (const Json& tab : tabs) {
    if (!tab.is_object()) continue;
    const std::string text = Dump(KeptTab(tab));
    if (kept.size() + text.size() + 2 > kMaxTabsBytes) break;
    absl::StrAppend(&kept, kept.size() == 1 ? "" : ",", text);
  }
  return kept + "]";
}

absl::StatusOr<v1::ReportWorkerRequest> ParseWorkerStatus(const std::string& body) {
  ASSIGN_OR_RETURN(const Json status, ParseObject(body));
  v1::ReportWorkerRequest request;
  v1::WorkerReport& report = *request.mutable_report();
  ASSIGN_OR_RETURN(*request.mutable_worker_id(), OptionalText(status, "worker"));
  ASSIGN_OR_RETURN(*request.mutable_target(), OptionalText(status, "target"));
  ASSIGN_OR_RETURN(*report.mutable_name(), OptionalText(status, "name"));
  ASSIGN_OR_RETURN(*report.mutable_version(), OptionalText(status, "version"));
  ASSIGN_OR_RETURN(*report.mutable_browser(), OptionalText(status, "browser"));
  const Json& paused = MemberOf(status, "paused");
  if (!paused.is_null() && !paused.is_boolean()) {
    return BadField("invalid_field", "paused must be true or false.", "");
  }
  report.set_paused(paused == true);
  const Json& tabs = MemberOf(status, "tabs");
  if (tabs.is_null()) return request;
  if (!tabs.is_array() || tabs.size() > kMaxTabs) {
    return BadField("invalid_field", absl::StrCat("tabs must be an array of at most ", kMaxTabs),
                    "Leave out tabs that were not used for long.");
  }
  report.set_tabs(KeptTabs(tabs));
  return request;
}

}  // namespace callslip::gateway
