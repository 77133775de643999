#ifndef CALLSLIP_BRIDGE_RELAY_AGENT_ROOTS_H_
#define CALLSLIP_BRIDGE_RELAY_AGENT_ROOTS_H_

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

// The folders whose files an agent may have uploaded: those that its client names as its MCP roots,
// or the bridge's working directory where the client has none. Thread-safe.
class AgentRoots {
 public:
  explicit AgentRoots(LineWriter* writer) : writer_(writer) {}

  // The gateway has answered the agent's `initialize`, which says whether the client has roots.
  void Start(const Message& initialize);

  // True where `message` answers a question of ours: it is nobody else's then.
  bool TakeAnswer(const Message& message);

  // Absolute paths, at least one. Asks the client anew each time, as they may change, and blocks
  // for kRootsPatience at most. FAILED_PRECONDITION where there is nothing to be said.
  absl::StatusOr<std::vector<std::string>> Folders(const Message& call, AbortSwitch& abort);

 private:
  absl::StatusOr<std::vector<std::string>> Ask(AbortSwitch& abort);

  LineWriter* const writer_;
  Mutex mutex_;
  CondVar answered_;
  bool has_roots_ ABSL_GUARDED_BY(mutex_) = false;
  int asked_ ABSL_GUARDED_BY(mutex_) = 0;
  // What the last question was answered; of those asked before nobody waits for more.
  int answered_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string answer_ ABSL_GUARDED_BY(mutex_);
};

// The path of a `file:` URL of this machine; nullopt for any other.
std::optional<std::string> PathOfFileUrl(absl::string_view url);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_AGENT_ROOTS_H_
