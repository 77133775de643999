#ifndef CALLSLIP_BRIDGE_RELAY_TIMEOUT_POLICY_H_
#define CALLSLIP_BRIDGE_RELAY_TIMEOUT_POLICY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "bridge/json/json_rpc.h"
#include "common/limits.h"

namespace callslip::bridge {

// How long an agent waits for the answer to one call.
enum class CallClass {
  kFast,      // Answered at once.
  kSlow,      // May ask a browser first.
  kBlocking,  // Waits for a person.
};

// The timeouts of the three classes and the longest wait that the gateway grants a call of each.
struct CallTimes {
  struct Class {
    absl::Duration timeout;      // From reading the call to answering it.
    absl::Duration server_wait;  // Zero where the gateway does not wait.
  };
  // Seed 001: "a 65s timeout (55s server wait + 10s buffer). All other calls use standard
  // 10s/35s timeouts". The two shorter waits are those of the tracker.
  Class fast = {absl::Seconds(10), absl::Seconds(8)};
  Class slow = {absl::Seconds(35), absl::Seconds(30)};
  Class blocking = {absl::Seconds(65), kMaxWait};
};

// What the answer of an expired wait needs for its way through tracker, gateway and pipe.
inline constexpr absl::Duration kNestingMargin = absl::Seconds(2);

// INVALID_ARGUMENT, naming the flags, unless fast < slow < blocking and each timeout is longer
// than its server wait by kNestingMargin. An inner wait that outlives the outer one reaches the
// agent as a broken call instead of as `pending`.
absl::Status CheckNesting(const CallTimes& times);

// True for requests that change nothing, wherever they are asked for, and may be asked twice.
bool OnlyReads(const Message& message);

// What the bridge knows of calls, by one table: which class one is in, for how long the gateway
// holds it, and whether it only reads. Immutable, hence thread-safe.
//
// It goes by the call alone: neither the load nor the answers so far change a timeout.
class TimeoutPolicy {
 public:
  // Takes the times as they are; whoever reads them from a user calls CheckNesting() first.
  explicit TimeoutPolicy(const CallTimes& times) : times_(times) {}

  CallClass ClassOf(const Message& message) const;
  absl::Duration TimeoutOf(CallClass call_class) const;

  // True for calls that may hold their connection for long. An interact that does not ask for a
  // wait is slow by its timeout only, and must not stand in line behind calls that wait.
  bool MayWait(const Message& message) const;

  // True where the gateway holds the call without limit and says now and then that it goes on: its
  // time counts from the last that was heard of it.
  bool CountsFromLastSign(const Message& message) const;

  // The wait to ask the gateway for, where it would otherwise be longer than the server wait that
  // the user has set; nullopt where the call is to stay as it is.
  std::optional<absl::Duration> ShorterWaitFor(const Message& message) const;

 private:
  absl::Duration ServerWaitOf(CallClass call_class) const;

  const CallTimes times_;
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_TIMEOUT_POLICY_H_
