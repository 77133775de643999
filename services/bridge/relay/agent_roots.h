#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "bridge/http/abort_switch.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/stdio.h"
#include "common/mutex.h"

namespace callslip::bridge {

// The folders from which an agent may upload files: its client's MCP roots, or the bridge's working
// directory if the client has none. Thread-safe.
class AgentRoots {
 public:
  explicit AgentRoots(LineWriter* writer) : writer_(writer) {}

  // Call this when the gateway has answered the agent's `initialize`, which states whether the
  // client has roots.
  void Start(const Message& initialize);

  // True if `message` answers our own request: it must not be forwarded then.
  bool TakeAnswer(const Message& message);

  // Absolute paths, at least one. Queries the client each time, since the roots may change, and
  // blocks for kRootsPatience at most. FAILED_PRECONDITION if there are none.
  absl::StatusOr<std::vector<std::string>> Folders(const Message& call, AbortSwitch& abort);

 private:
  absl::StatusOr<std::vector<std::string>> Ask(AbortSwitch& abort);

  LineWriter* const writer_;
  Mutex mutex_;
  CondVar answered_;
  bool has_roots_ ABSL_GUARDED_BY(mutex_) = false;
  int asked_ ABSL_GUARDED_BY(mutex_) = 0;
  // The number of the last answered request; earlier requests no longer wait.
  int answered_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string answer_ ABSL_GUARDED_BY(mutex_);
};

// The path of a `file:` URL on this machine; nullopt for any other URL.
std::optional<std::string> PathOfFileUrl(absl::string_view url);

}  // namespace callslip::bridge
