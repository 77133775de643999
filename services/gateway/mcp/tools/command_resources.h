#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gateway/mcp/protocol/providers.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// The results of the caller's commands as MCP resources: callslip://result/{correlation_id}.
class CommandResources final : public ResourceProvider {
 public:
  explicit CommandResources(TrackerClient* tracker) : tracker_(tracker) {}

  // The command with the result that `uri` names; nullopt if it is not such a URI, or its id has
  // more than kMaxIdBytes.
  static std::optional<std::string> CommandIdOf(const std::string& uri);

  boost::asio::awaitable<RpcOutcome> List(std::shared_ptr<CallContext> context,
                                          std::string cursor) const override;
  Json Templates() const override;
  boost::asio::awaitable<RpcOutcome> Read(std::shared_ptr<CallContext> context,
                                          std::string uri) const override;

 private:
  TrackerClient* const tracker_;
};

}  // namespace callslip::gateway
