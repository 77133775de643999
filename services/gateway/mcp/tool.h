#ifndef CALLSLIP_GATEWAY_MCP_TOOL_H_
#define CALLSLIP_GATEWAY_MCP_TOOL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/json/parse.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// What a tool answers. Every answer has `status`, `final` and, where a command is concerned, its
// `correlation_id`; a failure also has `error` (a code), `message`, `hint` and
// `may_have_executed`.
struct ToolResult {
  Json answer;
  bool is_error = false;

  // The MCP CallToolResult: the answer as structuredContent, and as text for older clients.
  Json ToMcp() &&;
};

// A tool of the MCP server. Stateless; used by many calls at once.
class Tool {
 public:
  virtual ~Tool() = default;

  // Its entry in tools/list: name, description, inputSchema, annotations.
  virtual const Json& Definition() const = 0;
  std::string Name() const { return Definition()["name"].get<std::string>(); }

  // Never fails as a call: what goes wrong is in the result, so that the model gets to read it.
  // `client_id` owns the commands. `arguments` is any JSON value.
  virtual boost::asio::awaitable<ToolResult> Call(std::string client_id, Json arguments) const = 0;
};

// interact, observe and analyze. `tracker` must outlive them.
std::vector<std::unique_ptr<Tool>> MakeTools(TrackerClient* tracker);

// Whether what the failed call was about may have been executed.
enum class Executed { kNo, kPerhaps };

// A result for arguments that don't fit, or for a call that failed.
ToolResult ErrorResult(const absl::Status& status, Executed executed);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOL_H_
