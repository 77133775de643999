#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "auth/token_file.h"
#include "common/address.h"
#include "common/clock.h"
#include "common/metrics.h"
#include "gateway/config.h"
#include "gateway/http/router.h"
#include "gateway/oauth/document_source.h"

namespace callslip::gateway {

class McpServer;
struct McpCatalog;

// Adds to what the gateway offers over MCP. An extension calls `announce` with the name of a list,
// "tools" or "prompts", when that list has changed. `clock` outlives the catalog.
using ExtendCatalog = std::function<void(
    Clock* clock, std::function<void(const std::string& list)> announce, McpCatalog& catalog)>;

// The whole gateway: the routes and their handlers between an HTTP listener and a tracker client,
// on its own event loop.
class GatewayServer {
 public:
  // Without a token file and an `issuer_source`, every client that can connect may do everything.
  // When a token is removed from `credentials()`, everything it started ends. `issuer_source`
  // fetches the documents of the authorization server; null unless `config.oauth` is on.
  explicit GatewayServer(const GatewayConfig& config,
                         const std::optional<TokenFile>& token_file = std::nullopt,
                         std::unique_ptr<DocumentSource> issuer_source = nullptr,
                         const ExtendCatalog& extend_catalog = nullptr);
  // Stops at once if Drain() was not called.
  ~GatewayServer();

  // The credentials in the token file. Null without a token file.
  std::shared_ptr<Credentials> credentials() const;

  // Applies a changed token file: the token that the gateway sends to the tracker may have changed,
  // and the key that signs session ids. Thread-safe.
  void Take(const TokenFile& tokens);

  // Starts to serve and returns the addresses it listens on, with the ports that were bound. These
  // are all configured addresses, unless some are still in use (--listen-when-free). Does not need
  // the tracker to be reachable yet. Call once. INVALID_ARGUMENT or UNAVAILABLE if an address or a
  // TLS file cannot be used.
  absl::StatusOr<std::vector<Address>> Start();

  // All routes. Only after Start().
  std::vector<Router::Served> Routes() const;

  const McpServer& mcp() const;

  // Adds the metrics that GET /metrics reports. Only after Start(), from any thread but the loop's,
  // because it waits for the loop.
  void AddMetrics(MetricsPage& page);

  // Continues to serve for `delay`, but reports not ready and closes each connection after a
  // response, so that clients reconnect through the load balancer of several gateways. Blocks.
  void Leave(absl::Duration delay);

  // Accepts no new connections, ends held polls and waits, and gives requests in progress at most
  // `grace` to finish. The destructor then stops the rest.
  void Drain(absl::Duration grace);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace callslip::gateway
