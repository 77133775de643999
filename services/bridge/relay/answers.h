#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bridge/json/json_rpc.h"

namespace callslip::bridge {

// Why the gateway did not answer a call, in the terms that the agent receives. Only the
// constructors below create failures.
struct Failure {
  std::string reason;              // One lower_snake_case word for programs.
  std::string message;             // What happened, one sentence.
  std::string hint = {};           // What to do next; empty takes the hint for repeating the call.
  std::string status = "error";    // Or "pending", "timeout": the words of DESIGN's JSON edge.
  bool may_have_executed = false;  // The call may have reached the worker that executes it.
  bool repeatable = true;          // A repeated call may succeed later.
  int code = kInternalError;       // For methods answered with a JSON-RPC error.
};

// `sent`: whether any part of the call may have reached the gateway.
Failure DeadlinePassed(const Message& request, absl::Duration timeout, bool sent);
Failure BridgeClosing(const Message& request, bool sent);
Failure TooManyCalls();
// `why`: the error of the last attempt; may be empty.
Failure GatewayUnreachable(absl::string_view url, absl::Duration waited, absl::string_view why);
Failure ConnectionBroke(absl::string_view url);
Failure StreamEndedEarly();
// A `subscriptions/listen` ended without the gateway's final answer.
Failure SubscriptionLost(absl::string_view url);
// An HTTP status of 400 or above without a JSON-RPC answer in `body`. A gateway's error there
// ({"error", "message", "hint"}) is passed on.
Failure HttpError(absl::string_view url, int status, absl::string_view body);
// The answer does not prove that its sender knows the token.
Failure UnprovenAnswer(absl::string_view url);
// A response that does not answer the request; `what` completes "The gateway sent …".
Failure NotAnAnswer(absl::string_view url, absl::string_view what);
Failure AnswerTooLarge();

// Answers a request whose line was too long. `id` is its id in JSON bytes, and may be empty.
std::string LineTooLong(const std::string& id);

// One line that answers `request` with `failure`: a tool result with `isError` for a `tools/call`,
// so that the model can read it, and a JSON-RPC error for everything else, including MCP tasks. For
// `server/discover` the error is kUnsupportedVersion, whatever the failure. `final` and
// `may_have_executed` come from VerdictOf(), as in the gateway; a failed query about a command that
// may still be answered is `pending`.
std::string FailureLine(const Message& request, const Failure& failure);

}  // namespace callslip::bridge
