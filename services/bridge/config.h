#ifndef CALLSLIP_BRIDGE_CONFIG_H_
#define CALLSLIP_BRIDGE_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "bridge/gateway_client.h"
#include "bridge/timeout_policy.h"
#include "common/config.h"

namespace callslip::bridge {

// What a user can set.
struct BridgeOptions {
  std::string gateway = "http://127.0.0.1:7890";
  CallTimes times;
  std::string log_level = "info";
};

// Adds one option for each member, which must outlive the set.
void AddBridgeOptions(OptionSet& options, BridgeOptions& target);

// What the bridge runs with: the same, checked as a whole.
struct BridgeConfig {
  GatewayUrl gateway;
  CallTimes times;
};

// INVALID_ARGUMENT, naming the flag, for a bad URL or timeouts that do not nest.
absl::StatusOr<BridgeConfig> CheckBridgeOptions(const BridgeOptions& options);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CONFIG_H_
