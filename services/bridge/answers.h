#ifndef CALLSLIP_BRIDGE_ANSWERS_H_
#define CALLSLIP_BRIDGE_ANSWERS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bridge/json_rpc.h"

namespace callslip::bridge {

// Why a call got no answer of the gateway's, in the terms in which an agent is told. Every such
// answer is made by one of the constructors below: the bridge has no other voice.
struct Failure {
  std::string reason;            // One lower_snake_case word for programs.
  std::string message;           // What happened, one sentence.
  std::string hint = {};         // What to do next; empty takes the hint for repeating the call.
  std::string status = "error";  // Or "pending", "timeout": the words of DESIGN's JSON edge.
  bool may_have_executed = false;
  int code = kInternalError;  // For methods that are answered with a JSON-RPC error.
};

// `sent`: whether anything of the call may have reached the gateway.
Failure DeadlinePassed(const Message& request, absl::Duration timeout, bool sent);
Failure BridgeClosing(const Message& request, bool sent);
Failure TooManyCalls();
Failure GatewayUnreachable(absl::string_view url, absl::Duration waited);
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

// One line that answers `request` with `failure`: a tool result with `isError` for a `tools/call`,
// so that the model reads it, and a JSON-RPC error for everything else, MCP tasks included. The one
// for `server/discover` is kUnsupportedVersion, whatever the failure.
std::string FailureLine(const Message& request, const Failure& failure);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_ANSWERS_H_
