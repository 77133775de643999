#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bridge/http/gateway_client.h"
#include "bridge/relay/timeout_policy.h"
#include "bridge/service/autostart_plan.h"
#include "common/config.h"
#include "common/tls_files.h"
#include "tls/client_tls.h"

namespace callslip::bridge {

// The options that a user can set.
struct BridgeOptions {
  std::string gateway = "http://127.0.0.1:7890";
  std::string token_file;
  TlsFiles tls;
  // From the environment only: everyone on the machine can read the arguments of a process.
  std::string token;
  CallTimes times;
  bool autostart = false;
  bool json = false;
  bool fix = false;
  bool yes = false;
  std::string log_level = "info";
  std::string otlp_endpoint;  // Empty: OpenTelemetry's environment variables apply.
};

// Adds one option for each member except `token`. `target` must outlive the set.
void AddBridgeOptions(OptionSet& options, BridgeOptions& target);

// The configuration that the bridge runs with: the options, checked as a whole.
struct BridgeConfig {
  GatewayUrl gateway;                       // With autostart, the socket of its own gateway.
  std::shared_ptr<const ClientTls> tls;     // For https.
  GatewayClient::TokenSource token_source;  // Rereads the file each time.
  CallTimes times;
  std::optional<AutostartPlan> autostart;
};

// Reads the files. INVALID_ARGUMENT or NOT_FOUND, naming the flag, for a bad URL, timeouts that do
// not nest, a file without a token, or one without certificates.
absl::StatusOr<BridgeConfig> CheckBridgeOptions(const BridgeOptions& options);

// The command line with which an agent starts the bridge `program` with these options, except for
// tokens, timeouts and logs. Paths are absolute, because agents run in any directory.
std::vector<std::string> StartCommand(const std::string& program, const BridgeOptions& options);

}  // namespace callslip::bridge
