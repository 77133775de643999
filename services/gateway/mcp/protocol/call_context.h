#pragma once

#include <optional>
#include <string>

#include "auth/principal.h"
#include "boost/asio/awaitable.hpp"
#include "common/trace_companions.h"
#include "common/trace_context.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/json_rpc.h"
#include "gateway/mcp/protocol/protocol.h"

namespace callslip::gateway {

// The call that a tool serves: its caller, and ways to reach the caller before the answer. An
// interface, so that tools can be tested without a transport.
class CallContext {
 public:
  virtual ~CallContext() = default;

  virtual Era era() const = 0;
  virtual const Principal& principal() const = 0;
  // The label that distinguishes the commands of this MCP session from those of other sessions.
  // Empty if there is no session.
  virtual std::string session_label() const { return ""; }
  // The session of the calling agent, according to its token. Empty for all other callers.
  virtual std::string session_id() const { return ""; }
  // The caller's trace, or a new one; constant during a call.
  virtual TraceContext trace() const = 0;
  // The caller's tracestate and baggage.
  virtual TraceCompanions companions() const { return {}; }
  // An object, as the client declared it.
  virtual const Json& client_capabilities() const = 0;
  // True if the answer may be a task (ToolResult::task) instead of a result.
  virtual bool as_task() const = 0;
  // The members of params besides name and arguments, such as inputResponses and requestState.
  virtual const Json& params() const = 0;
  // Call this before a long wait, once the parameters have been read. Afterwards params() and
  // client_capabilities() are null, and the memory reserved for the body is released.
  virtual void DropParams() {}

  // True if the caller asked for progress or log messages before the answer.
  virtual bool listens() const = 0;
  // Dropped without a progress token, and if `progress` has not grown since the last one, as the
  // protocol requires.
  virtual void NotifyProgress(double progress, std::optional<double> total,
                              const std::string& message) = 0;
  // Dropped if the caller asked for no log messages, or only for more severe ones. `level` is one
  // that LogLevelOf() knows.
  virtual void NotifyLog(const std::string& level, const std::string& logger, Json data) = 0;
  // Any other notification that belongs to this request.
  virtual void Notify(const std::string& method, Json params) = 0;

  // Asks the client and awaits its reply. Legacy only: modern clients receive questions in the
  // result.
  virtual boost::asio::awaitable<RpcOutcome> Request(std::string method, Json params) = 0;
};

}  // namespace callslip::gateway
