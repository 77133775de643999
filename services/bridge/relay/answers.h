#ifndef CALLSLIP_BRIDGE_RELAY_ANSWERS_H_
#define CALLSLIP_BRIDGE_RELAY_ANSWERS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bridge/json/json_rpc.h"

namespace callslip::bridge {

// Why a call got no answer of the gateway's, in the terms in which an agent is told. Every such
// answer is made by one of the constructors below: the bridge has no other voice.
struct Failure {
  std::string reason;              // One lower_snake_case word for programs.
  std::string message;             // What happened, one sentence.
  std::string hint = {};           // What to do next; empty takes the hint for repeating the call.
  std::string status = "error";    // Or "pending", "timeout": the words of DESIGN's JSON edge.
  bool may_have_executed = false;  // Nobody knows whether it has reached who executes it.
  bool repeatable = true;          // The same call may be answered otherwise, later.
  int code = kInternalError;       // For methods that are answered with a JSON-RPC error.
};

// `sent`: whether anything of the call may have reached the gateway.
Failure DeadlinePassed(const Message& request, absl::Duration timeout, bool sent);
Failure BridgeClosing(const Message& request, bool sent);
Failure TooManyCalls();
// `why`: what the last attempt failed of; may be empty.
Failure GatewayUnreachable(absl::string_view url, absl::Duration waited, absl::string_view why);
Failure ConnectionBroke(absl::string_view url);
Failure StreamEndedEarly();
// A `subscriptions/listen` ended without the gateway's farewell.
Failure SubscriptionLost(absl::string_view url);
// An HTTP status of 400 or above without a JSON-RPC answer in `body`. What a gateway says of it
// there ({"error", "message", "hint"}) is passed on.
Failure HttpError(absl::string_view url, int status, absl::string_view body);
// The answer does not prove that its sender knows the token.
Failure UnprovenAnswer(absl::string_view url);
// An answer that is no answer to the request; `what` completes "The gateway sent …".
Failure NotAnAnswer(absl::string_view url, absl::string_view what);
Failure AnswerTooLarge();

// The line that answers the request `id`, in JSON bytes, whose own line was too long; `id` may be
// empty.
std::string LineTooLong(const std::string& id);

// One line that answers `request` with `failure`: a tool result with `isError` for a `tools/call`,
// so that the model reads it, and a JSON-RPC error for everything else, MCP tasks included. The one
// for `server/discover` is kUnsupportedVersion, whatever the failure. `final` and
// `may_have_executed` are those of VerdictOf(), as in the gateway; a failure to read about a
// command that may still be answered is `pending`.
std::string FailureLine(const Message& request, const Failure& failure);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_ANSWERS_H_
