#include "gateway/extension/sync_request.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "gateway/extension/browser_log.h"
#include "gateway/extension/worker_status.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

// The most results that such an extension queues.
constexpr size_t kMaxResults = 200;
// Four times the most commands that a worker may hold.
constexpr size_t kMaxInProgress = 20;
// Short enough that, with the prefix, the tracker accepts it as a name.
constexpr size_t kMaxSessionBytes = 100;
// One line on a screen.
constexpr size_t kMaxNameBytes = 64;

// Up to `limit` entries of a member that should be an array.
std::vector<const Json*> EntriesOf(const Json& body, const char* field, size_t limit) {
  std::vector<const Json*> entries;
  const Json& array = MemberOf(body, field);
  if (!array.is_array()) return entries;
  for (const Json& entry : array) {
    if (entries.size() == limit) break;
    entries.push_back(&entry);
  }
  return entries;
}

// Reads which delivery a report belongs to: its id names command and lease; an old report may name
// the command alone. False if it names none of our commands.
template <typename Request>
bool TakeIds(const Json& report, const char* id_field, Request& request) {
  const std::string id = TextOf(report, id_field);
  const std::pair<std::string, std::string> parts = absl::StrSplit(id, absl::MaxSplits('/', 1));
  const bool whole = absl::StartsWith(parts.second, "lease-");
  request.set_command_id(whole ? parts.first : TextOf(report, "correlation_id"));
  if (whole) request.set_lease_token(parts.second);
  return !request.command_id().empty();
}

// Bounds the context to what the tracker accepts, so that a URL does not cause the loss of a
// result.
std::string Bounded(Json context) {
  constexpr size_t kMaxContextBytes = 8000;
  std::string text = Dump(context);
  if (text.size() <= kMaxContextBytes) return text;
  context.erase("url");
  return context.empty() ? "" : Dump(context);
}

// The tab of the execution, if known, as {"tab_id", "url"}: from the result, or the only tab in
// which the extension acts. Else null.
Json TabOf(const Json& result, const Json& settings) {
  const Json& resolved = MemberOf(result, "resolved_tab_id");
  if (resolved.is_number_integer()) {
    return {{"tab_id", resolved}, {"url", TextOf(result, "resolved_url")}};
  }
  const Json& tracked = MemberOf(settings, "tracked_tab_id");
  if (!IsTrue(settings, "tracking_enabled") || !tracked.is_number_integer()) return nullptr;
  return {{"tab_id", tracked}, {"url", TextOf(settings, "tracked_tab_url")}};
}

v1::CommandError ErrorOf(const Json& report) {
  const Json& result = MemberOf(report, "result");
  std::string error = TextOf(report, "error");
  if (error.empty()) error = TextOf(result, "error");
  v1::CommandError failure;
  // Errors of these extensions that have no code are sentences.
  failure.set_code(IsErrorCode(error) ? error : "execution_failed");
  const std::string message = TextOf(result, "message");
  failure.set_message(message.empty() ? error : message);
  const bool switched_off = failure.code() == "ai_web_pilot_disabled";
  failure.set_may_have_executed(!switched_off);
  if (switched_off) {
    failure.set_hint("Ask the user to switch AI Web Pilot on in the extension's popup.");
  }
  return failure;
}

// The extension reports failures as `complete` too.
bool IsFailure(const Json& report) {
  const Json& result = MemberOf(report, "result");
  const Json& success = MemberOf(result, "success");
  if (!TextOf(report, "error").empty() || success == false) return true;
  return success != true && !TextOf(result, "error").empty();
}

// Moves the return value of a script to `data`, as in Callslip's own extension.
Json ResultOf(Json result) {
  if (IsTrue(result, "success") && result.contains("result") && !result.contains("data")) {
    result["data"] = std::move(result["result"]);
    result.erase("result");
  }
  return result;
}

std::optional<v1::CompleteCommandRequest> CompletionOf(const Json& report, const Json& settings) {
  v1::CompleteCommandRequest request;
  if (!TakeIds(report, "id", request)) return std::nullopt;
  if (Json tab = TabOf(MemberOf(report, "result"), settings); !tab.is_null()) {
    request.set_place(TabPlace(tab));
    request.set_context(Bounded(std::move(tab)));
  }
  const std::string status = TextOf(report, "status");
  if (status == "timeout") {
    *request.mutable_timeout() = ErrorOf(report);
  } else if (status != "complete" || IsFailure(report)) {
    *request.mutable_error() = ErrorOf(report);
  } else {
    request.set_result(Dump(ResultOf(MemberOf(report, "result"))));
  }
  return request;
}

std::optional<v1::AcknowledgeCommandRequest> HeartbeatOf(const Json& entry) {
  v1::AcknowledgeCommandRequest request;
  if (!TakeIds(entry, "id", request)) return std::nullopt;
  if (const Json& percent = MemberOf(entry, "progress_pct"); percent.is_number()) {
    request.mutable_progress()->set_fraction(percent.get<double>() / 100);
  }
  return request;
}

// "Chrome/131.0.0.0" from the user agent.
std::string BrowserOf(const std::string& user_agent) {
  for (absl::string_view product : absl::StrSplit(user_agent, ' ')) {
    if (absl::StartsWith(product, "Chrome/")) return std::string(CutText(product, kMaxNameBytes));
  }
  return "";
}

v1::WorkerReport ReportOf(const HttpRequest& request, const Json& body) {
  const Json& settings = MemberOf(body, "settings");
  const std::pair<std::string, std::string> client =
      absl::StrSplit(SyncClientName(request), absl::MaxSplits('/', 1));
  v1::WorkerReport report;
  report.set_name(std::string(CutText(client.first, kMaxNameBytes)));
  const std::string version = TextOf(body, "extension_version");
  report.set_version(
      std::string(CutText(version.empty() ? client.second : version, kMaxNameBytes)));
  report.set_browser(BrowserOf(request.Header("user-agent")));
  report.set_paused(MemberOf(settings, "pilot_enabled") == false);
  if (IsTrue(settings, "tracking_enabled")) {
    report.set_tabs(KeptTabs(Json::array({{{"tab_id", MemberOf(settings, "tracked_tab_id")},
                                           {"active", IsTrue(settings, "tracked_tab_active")},
                                           {"title", TextOf(settings, "tracked_tab_title")},
                                           {"url", TextOf(settings, "tracked_tab_url")}}})));
  }
  return report;
}

}  // namespace

std::string SyncId(const std::string& command_id, const std::string& lease_token) {
  return absl::StrCat(command_id, "/", lease_token);
}

std::string SyncClientName(const HttpRequest& request) {
  for (const char* header : {"x-kaboom-client", "x-gasoline-client"}) {
    std::string name;
    for (const char c : request.Header(header).substr(0, kMaxNameBytes)) {
      if (absl::ascii_isgraph(c)) name.push_back(c);
    }
    if (!name.empty()) return name;
  }
  return "unknown";
}

absl::StatusOr<SyncRequest> ParseSync(const HttpRequest& request) {
  ASSIGN_OR_RETURN(const Json body, ParseObject(request.body));
  SyncRequest sync;
  std::string session = TextOf(body, "ext_session_id");
  sync.may_be_held = !session.empty();
  if (session.empty()) session = TextOf(body, "session_id");
  std::erase_if(session, [](char c) { return absl::ascii_iscntrl(c); });
  if (session.empty()) {
    return BadField("missing_session", "Neither ext_session_id nor session_id is there.",
                    "Extensions send one of them from version 6.0.0 on: update the extension.");
  }
  sync.worker_id = absl::StrCat("sync-", CutText(session, kMaxSessionBytes));
  sync.reports_progress = MemberOf(body, "in_progress").is_array();

  const Json& settings = MemberOf(body, "settings");
  const Json& tab = MemberOf(settings, "tracked_tab_id");
  if (IsTrue(settings, "tracking_enabled") && tab.is_number_integer()) {
    sync.tracked_tab_id = tab.get<int64_t>();
  }
  sync.report = ReportOf(request, body);
  for (const Json* report : EntriesOf(body, "command_results", kMaxResults)) {
    if (auto completion = CompletionOf(*report, settings)) {
      sync.results.push_back(*std::move(completion));
    }
  }
  for (const Json* entry : EntriesOf(body, "in_progress", kMaxInProgress)) {
    if (auto heartbeat = HeartbeatOf(*entry)) sync.heartbeats.push_back(*std::move(heartbeat));
  }
  sync.logs = LogEntries(MemberOf(body, "extension_logs"));
  return sync;
}

std::optional<v1::CompleteCommandRequest> ScreenshotResult(const Json& body) {
  v1::CompleteCommandRequest request;
  if (!TakeIds(body, "query_id", request)) return std::nullopt;
  if (const std::string url = TextOf(body, "url"); !url.empty()) {
    request.set_context(Bounded({{"url", url}}));
  }
  // data:image/jpeg;base64,…
  const std::string data_url = TextOf(body, "data_url");
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(data_url, absl::MaxSplits(";base64,", 1));
  absl::string_view type = parts.first;
  const bool is_image = absl::ConsumePrefix(&type, "data:") && absl::StartsWith(type, "image/");
  if (!is_image || parts.second.empty()) {
    request.mutable_error()->set_code("screenshot_failed");
    request.mutable_error()->set_message("The extension sent a screenshot that is not an image.");
    return request;
  }
  const Json image = {{"mime_type", std::string(type)}, {"base64", std::string(parts.second)}};
  request.set_result(Dump({{"success", true}, {"data", image}}));
  return request;
}

}  // namespace callslip::gateway
