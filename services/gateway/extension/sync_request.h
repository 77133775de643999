#ifndef CALLSLIP_GATEWAY_EXTENSION_SYNC_REQUEST_H_
#define CALLSLIP_GATEWAY_EXTENSION_SYNC_REQUEST_H_

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

// One POST /sync of a KaBOOM or Gasoline extension. Its version numbers started anew after 6.0, so
// that what it can do is told by the members that it sends and by nothing else.
struct SyncRequest {
  std::string worker_id;
  // It waits 8 s for an answer. False for those that give up after 3 s and lose what they have
  // queued meanwhile; these name their session `session_id`.
  bool may_be_held = false;
  // It says what it is at work on. The others are silent until they are done.
  bool reports_progress = false;
  // The tab that its user has given to it; 0 where there is none.
  int64_t tracked_tab_id = 0;
  v1::WorkerReport report;
  // In this order: what has ended, and what goes on.
  std::vector<v1::CompleteCommandRequest> results;
  std::vector<v1::AcknowledgeCommandRequest> heartbeats;
  // What it has logged of itself.
  std::vector<BrowserLogEntry> logs;
};

// INVALID_ARGUMENT with a reason where the body is no object or names no session. All else that is
// wrong is left out: such an extension repeats what was refused without end.
absl::StatusOr<SyncRequest> ParseSync(const HttpRequest& request);

// One delivery, as these extensions know it: they quote a single id, and some nothing else. Holds
// all that a result is proved with, so that the gateway need not remember what it has handed out.
std::string SyncId(const std::string& command_id, const std::string& lease_token);

// A screenshot, which comes on its own. Nullopt where it is not the answer to a command.
std::optional<v1::CompleteCommandRequest> ScreenshotResult(const Json& body);

// "gasoline-extension/6.0.3", as the client calls itself in its headers; "unknown" where it does
// not.
std::string SyncClientName(const HttpRequest& request);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_EXTENSION_SYNC_REQUEST_H_
