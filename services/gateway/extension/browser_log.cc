#include "gateway/extension/browser_log.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

// The tracker's limits for one call.
constexpr size_t kMaxEntries = 1000;
constexpr size_t kMaxEntryBytes = size_t{256} << 10;

constexpr char kRedacted[] = "[redacted]";

// The endings of secret names, in lower case and without hyphens and underscores: access_token,
// x-auth-token and idToken all end in `token`.
constexpr absl::string_view kSecrets[] = {"authorization", "cookie",    "token",      "secret",
                                          "password",      "passwd",    "passphrase", "credential",
                                          "accesskey",     "secretkey", "privatekey", "apikey"};

bool IsSecret(absl::string_view name) {
  const std::string plain =
      absl::StrReplaceAll(absl::AsciiStrToLower(name), {{"-", ""}, {"_", ""}});
  return absl::c_any_of(kSecrets,
                        [&](absl::string_view end) { return absl::EndsWith(plain, end); });
}

bool IsSecretName(const Json& json) {
  return json.is_string() && IsSecret(json.get<std::string>());
}

// Redacts the values of parameters in the query or the fragment of a URL.
void RedactUrl(std::string& url) {
  std::string redacted;
  bool is_name = false;
  std::string name;
  for (size_t i = 0; i < url.size();) {
    const char c = url[i];
    redacted.push_back(c);
    ++i;
    if (c == '?' || c == '&' || c == '#') {
      is_name = true;
      name.clear();
    } else if (is_name && c == '=') {
      is_name = false;
      const size_t end = std::min(url.find_first_of("&#", i), url.size());
      redacted.append(IsSecret(name) ? kRedacted : url.substr(i, end - i));
      i = end;
    } else if (is_name) {
      name.push_back(c);
    }
  }
  url = std::move(redacted);
}

void Redact(Json& json);

// Headers occur as objects, as {name, value} and as [name, value].
void RedactMembers(Json& json) {
  const bool is_secret =
      IsSecretName(MemberOf(json, "name")) || IsSecretName(MemberOf(json, "key"));
  for (auto it = json.begin(); it != json.end(); ++it) {
    if (IsSecret(it.key()) || (is_secret && it.key() == "value")) {
      *it = kRedacted;
    } else {
      Redact(*it);
    }
  }
}

// The parser bounds the depth of the recursion.
void Redact(Json& json) {
  if (json.is_object()) return RedactMembers(json);
  if (json.is_array()) {
    if (json.size() == 2 && IsSecretName(json[0])) json[1] = kRedacted;
    for (Json& element : json) Redact(element);
  } else if (json.is_string() && absl::StrContains(json.get_ref<const std::string&>(), "://")) {
    RedactUrl(json.get_ref<std::string&>());
  }
}

}  // namespace

const std::vector<BrowserLogPath>& BrowserLogPaths() {
  static const auto& paths = *new std::vector<BrowserLogPath>{
      {"/logs", "logs", "entries"},
      {"/extension-logs", "extension_logs", "logs"},
      {"/network-bodies", "network_bodies", "bodies"},
      {"/network-waterfall", "network_waterfall", "entries"},
      {"/websocket-events", "websocket_events", "events"},
      {"/enhanced-actions", "enhanced_actions", "actions"},
      {"/performance-snapshots", "performance_snapshots", "snapshots"},
      {"/api/extension-status", "extension_status", ""},
  };
  return paths;
}

std::string TabPlace(const Json& told) {
  for (const char* name : {"tab_id", "tabId"}) {
    const Json& tab = MemberOf(told, name);
    if (tab.is_number_integer()) return absl::StrCat("tab-", Dump(tab));
  }
  return "";
}

std::vector<BrowserLogEntry> LogEntries(const Json& entries) {
  std::vector<BrowserLogEntry> kept;
  if (!entries.is_array()) return kept;
  const size_t skipped = entries.size() - std::min(entries.size(), kMaxEntries);
  for (size_t i = skipped; i < entries.size(); ++i) {
    Json entry = entries[i];
    Redact(entry);
    std::string text = Dump(entry);
    if (text.size() <= kMaxEntryBytes) kept.push_back({std::move(text), TabPlace(entry)});
  }
  return kept;
}

void AddEntries(std::vector<BrowserLogEntry> entries, v1::AppendWorkerLogRequest& append) {
  for (BrowserLogEntry& entry : entries) {
    append.add_entries(std::move(entry.json));
    append.add_places(std::move(entry.place));
  }
}

}  // namespace callslip::gateway
