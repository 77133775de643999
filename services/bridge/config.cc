#include "bridge/config.h"

#include "absl/time/time.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

// An agent that waits longer than this has given up on the pipe.
constexpr absl::Duration kLongestTimeout = absl::Minutes(10);

void AddTimes(OptionSet& options, const std::string& name, const std::string& calls,
              CallTimes::Class& times) {
  options.Add("timeout-" + name, &times.timeout, absl::Milliseconds(1), kLongestTimeout,
              "After how long " + calls + " are answered with a timeout");
  options.Add("server-wait-" + name, &times.server_wait, absl::ZeroDuration(), kLongestTimeout,
              "The longest wait that the gateway grants such calls; 0s if it does not wait");
}

}  // namespace

void AddBridgeOptions(OptionSet& options, BridgeOptions& target) {
  options.Add("gateway", &target.gateway, "URL of the gateway; without a path, /mcp is meant");
  AddTimes(options, "fast", "all calls that the other two do not name", target.times.fast);
  AddTimes(options, "slow", "interact, analyze and calls with a long wait_ms", target.times.slow);
  AddTimes(options, "blocking", "observe command_result calls for a person's annotations",
           target.times.blocking);
  options.AddChoice("log-level", &target.log_level, {"debug", "info", "warning", "error"},
                    "The least severe lines to log on stderr");
}

absl::StatusOr<BridgeConfig> CheckBridgeOptions(const BridgeOptions& options) {
  ASSIGN_OR_RETURN(GatewayUrl gateway, ParseGatewayUrl(options.gateway));
  RETURN_IF_ERROR(CheckNesting(options.times));
  return BridgeConfig{.gateway = std::move(gateway), .times = options.times};
}

}  // namespace callslip::bridge
