#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "bridge/json/json_rpc.h"
#include "common/limits.h"

namespace callslip::bridge {

// How long an agent waits for the answer to one call.
enum class CallClass {
  kFast,      // Answered immediately.
  kSlow,      // May query a browser first.
  kBlocking,  // Waits for the user.
};

// The timeouts of the three classes and the longest wait that the gateway grants a call of each.
struct CallTimes {
  struct Class {
    absl::Duration timeout;      // From reading the call to answering it.
    absl::Duration server_wait;  // Zero if the gateway does not wait.
  };
  // Seed 001: "a 65s timeout (55s server wait + 10s buffer). All other calls use standard
  // 10s/35s timeouts". The two shorter waits are those of the tracker.
  Class fast = {absl::Seconds(10), absl::Seconds(8)};
  Class slow = {absl::Seconds(35), absl::Seconds(30)};
  Class blocking = {absl::Seconds(65), kMaxWait};
};

// The time that the answer of an expired wait needs to pass through tracker, gateway and pipe.
inline constexpr absl::Duration kNestingMargin = absl::Seconds(2);

// INVALID_ARGUMENT, naming the flags, unless fast < slow < blocking and each timeout exceeds its
// server wait by kNestingMargin. An inner wait that outlives the outer one would reach the agent as
// a broken call instead of as `pending`.
absl::Status CheckNesting(const CallTimes& times);

// True for requests that change nothing anywhere, and may be repeated.
bool OnlyReads(const Message& message);

// The bridge's classification of calls, in one table: the class of a call, how long the gateway
// holds it, and whether it only reads. Immutable, hence thread-safe.
//
// It depends on the call alone: neither the load nor earlier answers change a timeout.
class TimeoutPolicy {
 public:
  // Uses the times unchecked; call CheckNesting() first if they come from a user.
  explicit TimeoutPolicy(const CallTimes& times) : times_(times) {}

  CallClass ClassOf(const Message& message) const;
  absl::Duration TimeoutOf(CallClass call_class) const;

  // True for calls that may hold their connection for long. An interact that does not request a
  // wait is slow by its timeout only, and must not queue behind calls that wait.
  bool MayWait(const Message& message) const;

  // True if the gateway holds the call without limit and reports progress now and then: the timeout
  // counts from its last message.
  bool CountsFromLastSign(const Message& message) const;

  // The wait to request from the gateway if it would otherwise exceed the server wait that the user
  // has set; nullopt if the call must stay unchanged.
  std::optional<absl::Duration> ShorterWaitFor(const Message& message) const;

 private:
  absl::Duration ServerWaitOf(CallClass call_class) const;

  const CallTimes times_;
};

}  // namespace callslip::bridge
