#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "bridge/http/abort_switch.h"
#include "bridge/http/gateway_client.h"
#include "bridge/json/json_rpc.h"
#include "common/mutex.h"

namespace callslip::bridge {

// The MCP session of the agent, in the revisions that have sessions. If the gateway no longer knows
// it, repeats the agent's `initialize`, so that the agent notices nothing. Thread-safe.
class SessionKeeper {
 public:
  explicit SessionKeeper(GatewayClient* gateway) : gateway_(gateway) {}

  // Call this when the gateway has answered the agent's `initialize`: its messages then carry the
  // negotiated session and version. Text that does not fit into a header is ignored.
  void Start(const Message& initialize, const ResponseHead& head, const Message& answer);

  // Call this when the gateway has answered a `logging/setLevel` of the agent: if that succeeded, a
  // session that replaces this one gets the same level.
  void KeepLogLevel(const Message& set_level, const Message& answer);

  // The id of the session; empty if the gateway has issued none.
  std::string id();

  // The header lines for a message of the session.
  std::string SessionHeaders();

  enum class Renewal {
    kDone,      // The lost session has been replaced.
    kTryLater,  // The gateway is currently unreachable.
    kRefused,   // It refuses the same `initialize`, or answers it differently.
  };

  // Call this when the gateway does not know the session `lost`: opens a new one, unless another
  // thread has done so. Blocks until the session is open, whichever thread opens it, or until
  // `abort`. `silence` as in Post().
  Renewal Renew(const std::string& lost, absl::Duration silence, AbortSwitch& abort);

  // Sends a DELETE for the session, if the gateway has issued one. Blocks for `timeout` at most
  // (except for resolving a host name); a failure has no consequence.
  void End(absl::Duration timeout);

 private:
  struct Session {
    std::string id;
    std::string protocol_version;
  };

  static Session SessionOf(const ResponseHead& head, const std::string& protocol_version);
  static std::string HeadersOf(const Session& session);
  // Waits while another thread opens a session. False if `abort` ended the wait.
  bool AwaitRenewal(AbortSwitch& abort);
  Renewal Open(const std::string& initialize, const std::string& set_level,
               const std::string& protocol_version, absl::Duration silence, AbortSwitch& abort,
               Session& opened);

  GatewayClient* const gateway_;
  Mutex mutex_;
  CondVar renewed_;  // renewing_ has become false.
  bool renewing_ ABSL_GUARDED_BY(mutex_) = false;
  std::string initialize_ ABSL_GUARDED_BY(mutex_);  // As the agent wrote it.
  // As the agent wrote it; empty if there was none.
  std::string set_level_ ABSL_GUARDED_BY(mutex_);
  Session session_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::bridge
