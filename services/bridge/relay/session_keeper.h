#ifndef CALLSLIP_BRIDGE_RELAY_SESSION_KEEPER_H_
#define CALLSLIP_BRIDGE_RELAY_SESSION_KEEPER_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "bridge/http/abort_switch.h"
#include "bridge/http/gateway_client.h"
#include "bridge/json/json_rpc.h"
#include "common/mutex.h"

namespace callslip::bridge {

// The MCP session of the agent, in the revisions that have one. A gateway that does not know it any
// more gets the agent's `initialize` once again, so that the agent notices nothing. Thread-safe.
class SessionKeeper {
 public:
  explicit SessionKeeper(GatewayClient* gateway) : gateway_(gateway) {}

  // The gateway has answered the agent's `initialize`: from now on its messages carry what that
  // has agreed on. Text that does not fit into a header is ignored.
  void Start(const Message& initialize, const ResponseHead& head, const Message& answer);

  // The gateway has answered a `logging/setLevel` of the agent's: a session that takes the place of
  // this one gets the same level, if it was taken.
  void KeepLogLevel(const Message& set_level, const Message& answer);

  // The id of the session; empty where the gateway has issued none.
  std::string id();

  // The lines of the headers of a message of the session.
  std::string SessionHeaders();

  enum class Renewal {
    kDone,      // There is another session than the one that was lost.
    kTryLater,  // The gateway cannot be reached just now.
    kRefused,   // It does not take the same `initialize` any more, or answers it in another way.
  };

  // The gateway does not know the session `lost`: opens a new one, unless another thread has done
  // so. Blocks until that is over, for at most as long as `abort` lets it, whoever opens it.
  // `silence` as in Post().
  Renewal Renew(const std::string& lost, absl::Duration silence, AbortSwitch& abort);

  // Sends a DELETE for the session, if the gateway has issued one. Blocks for `timeout` at most
  // (resolving a host name excepted); a failure is of no consequence.
  void End(absl::Duration timeout);

 private:
  struct Session {
    std::string id;
    std::string protocol_version;
  };

  static Session SessionOf(const ResponseHead& head, const std::string& protocol_version);
  static std::string HeadersOf(const Session& session);
  // Waits while another thread opens a session. False where `abort` has ended that.
  bool AwaitRenewal(AbortSwitch& abort);
  Renewal Open(const std::string& initialize, const std::string& set_level,
               const std::string& protocol_version, absl::Duration silence, AbortSwitch& abort,
               Session& opened);

  GatewayClient* const gateway_;
  Mutex mutex_;
  CondVar renewed_;  // renewing_ has become false.
  bool renewing_ ABSL_GUARDED_BY(mutex_) = false;
  std::string initialize_ ABSL_GUARDED_BY(mutex_);  // As the agent wrote it.
  std::string set_level_ ABSL_GUARDED_BY(mutex_);   // The same; empty where there was none.
  Session session_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_SESSION_KEEPER_H_
