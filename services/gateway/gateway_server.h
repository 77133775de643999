#ifndef CALLSLIP_GATEWAY_GATEWAY_SERVER_H_
#define CALLSLIP_GATEWAY_GATEWAY_SERVER_H_

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

// Adds to what the gateway offers over MCP. `announce` is to be told the name of a list, "tools" or
// "prompts", when it has changed; `clock` outlives the catalog.
using ExtendCatalog = std::function<void(
    Clock* clock, std::function<void(const std::string& list)> announce, McpCatalog& catalog)>;

// The whole gateway: the routes and their handlers between an HTTP listener and a tracker client,
// on one loop of their own.
class GatewayServer {
 public:
  // Without a token file and an `issuer_source` everyone who can connect may do everything. Tokens
  // that `credentials()` loses end what they have begun. The source is where documents of the
  // authorization server come from, if there is to be one: `config.oauth` is on then.
  explicit GatewayServer(const GatewayConfig& config,
                         const std::optional<TokenFile>& token_file = std::nullopt,
                         std::unique_ptr<DocumentSource> issuer_source = nullptr,
                         const ExtendCatalog& extend_catalog = nullptr);
  // Stops at once if Drain() was not called.
  ~GatewayServer();

  // Those of the token file. Null where there is none.
  std::shared_ptr<Credentials> credentials() const;

  // The token file has changed: what the gateway shows to the tracker may have, and what signs the
  // ids of sessions. Any thread.
  void Take(const TokenFile& tokens);

  // Starts to serve; returns the addresses that it listens on, with the ports that were bound,
  // which are all that were configured unless some may come later (--listen-when-free). Does not
  // need the tracker to be there yet. Once only. INVALID_ARGUMENT or UNAVAILABLE where an address
  // or a file for TLS can't be used.
  absl::StatusOr<std::vector<Address>> Start();

  // All that it serves. From Start() on.
  std::vector<Router::Served> Routes() const;

  // What it knows of MCP.
  const McpServer& mcp() const;

  // Adds what GET /metrics tells. From Start() on, from any thread but the loop's, for which it
  // waits.
  void AddMetrics(MetricsPage& page);

  // Serves on for `delay`, but is not ready any more, and closes each connection after an answer,
  // so that its peer comes back through whatever stands before several gateways. Blocks.
  void Leave(absl::Duration delay);

  // Accepts nothing new, ends held polls and waits, and lets requests under way finish for at most
  // `grace`. The destructor then stops the rest.
  void Drain(absl::Duration grace);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_GATEWAY_SERVER_H_
