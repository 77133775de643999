#include "gateway/extension/browser_log.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace callslip::gateway {
namespace {

// As many, and as large, as the tracker takes in one call.
constexpr size_t kMaxEntries = 1000;
constexpr size_t kMaxEntryBytes = size_t{256} << 10;

constexpr absl::string_view kSecrets[] = {"authorization", "proxy-authorization", "cookie",
                                          "set-cookie",    "x-api-key",           "password"};

// The parser bounds how deep this goes.
void Redact(Json& json) {
  if (json.is_array()) {
    for (Json& element : json) Redact(element);
  } else if (json.is_object()) {
    for (auto it = json.begin(); it != json.end(); ++it) {
      if (absl::c_linear_search(kSecrets, absl::AsciiStrToLower(it.key()))) {
        *it = "[redacted]";
      } else {
        Redact(*it);
      }
    }
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

std::vector<std::string> LogEntries(const Json& entries) {
  std::vector<std::string> kept;
  if (!entries.is_array()) return kept;
  const size_t skipped = entries.size() - std::min(entries.size(), kMaxEntries);
  for (size_t i = skipped; i < entries.size(); ++i) {
    Json entry = entries[i];
    Redact(entry);
    std::string text = Dump(entry);
    if (text.size() <= kMaxEntryBytes) kept.push_back(std::move(text));
  }
  return kept;
}

}  // namespace callslip::gateway
