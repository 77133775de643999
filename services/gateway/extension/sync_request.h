#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "callslip/tracker/v1/worker_service.pb.h"
#include "gateway/extension/browser_log.h"
#include "gateway/http/http_message.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// One POST /sync of a KaBOOM or Gasoline extension. Its version numbers restarted after 6.0, so
// that only the members that it sends show its capabilities.
struct SyncRequest {
  std::string worker_id;
  // The extension waits 8 s for an answer. False for extensions that give up after 3 s and then
  // lose their queued data; these name their session `session_id`.
  bool may_be_held = false;
  // The extension reports its running commands. Others are silent until they are done.
  bool reports_progress = false;
  // The tab that the user has assigned to it; 0 if there is none.
  int64_t tracked_tab_id = 0;
  v1::WorkerReport report;
  // In this order: results, and running commands.
  std::vector<v1::CompleteCommandRequest> results;
  std::vector<v1::AcknowledgeCommandRequest> heartbeats;
  // The extension's log about itself.
  std::vector<BrowserLogEntry> logs;
};

// INVALID_ARGUMENT with a reason if the body is not an object or names no session. All other
// invalid parts are ignored: such an extension repeats a refused request endlessly.
absl::StatusOr<SyncRequest> ParseSync(const HttpRequest& request);

// The id of one delivery for these extensions: they quote a single id, and some nothing else.
// Contains everything that proves a result, so that the gateway need not remember its deliveries.
std::string SyncId(const std::string& command_id, const std::string& lease_token);

// A screenshot, which arrives separately. Nullopt if it does not answer a command.
std::optional<v1::CompleteCommandRequest> ScreenshotResult(const Json& body);

// "gasoline-extension/6.0.3", the client's name in its headers; "unknown" if there is none.
std::string SyncClientName(const HttpRequest& request);

}  // namespace callslip::gateway
