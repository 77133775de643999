#ifndef CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_CONTEXT_H_
#define CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_CONTEXT_H_

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

// What a tool knows of the call that it serves, and how it reaches the caller before the answer.
// An interface, so that tools can be tested without a transport.
class CallContext {
 public:
  virtual ~CallContext() = default;

  virtual Era era() const = 0;
  virtual const Principal& principal() const = 0;
  // What the commands of the client's MCP session are labelled with, to tell them from those of
  // other sessions. Empty where it has none.
  virtual std::string session_label() const { return ""; }
  // The session whose agent calls, as its token says. Empty for all other callers.
  virtual std::string session_id() const { return ""; }
  // Of the caller, or a new one: always the same of one call.
  virtual TraceContext trace() const = 0;
  // What the caller has beside its trace.
  virtual TraceCompanions companions() const { return {}; }
  // As the client declared them; an object.
  virtual const Json& client_capabilities() const = 0;
  // True where the answer may be a task (ToolResult::task) instead of a result.
  virtual bool as_task() const = 0;
  // The members of params besides name and arguments, such as inputResponses and requestState.
  virtual const Json& params() const = 0;
  // To be called before a long wait: what was sent has been read. From then on there are neither
  // params() nor client_capabilities(), and the place of the body is given back.
  virtual void DropParams() {}

  // True where the caller asked to hear of the call before its answer: progress or log messages.
  virtual bool listens() const = 0;
  // Dropped without a progress token, and where `progress` has not grown since the last one: the
  // protocol demands that it does.
  virtual void NotifyProgress(double progress, std::optional<double> total,
                              const std::string& message) = 0;
  // Dropped where the caller asked for no logging, or for more severe messages only. `level` is one
  // of LogLevels().
  virtual void NotifyLog(const std::string& level, const std::string& logger, Json data) = 0;
  // Any other notification that belongs to this request.
  virtual void Notify(const std::string& method, Json params) = 0;

  // Asks the client and awaits its reply. Legacy only: modern clients are asked by the result.
  virtual boost::asio::awaitable<RpcOutcome> Request(std::string method, Json params) = 0;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_CONTEXT_H_
