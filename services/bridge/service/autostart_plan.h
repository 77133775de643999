#ifndef CALLSLIP_BRIDGE_SERVICE_AUTOSTART_PLAN_H_
#define CALLSLIP_BRIDGE_SERVICE_AUTOSTART_PLAN_H_

#include <string>

#include "absl/status/statusor.h"
#include "bridge/http/gateway_client.h"

namespace callslip::bridge {

// Where the services are to be, and the files that speak of them.
struct AutostartPlan {
  std::string gateway_address;  // HOST:PORT, for the browser and for agents without a bridge.
  std::string gateway_url;
  std::string token_file;  // Empty: none. Absolute.
  std::string base;        // Path of the files, without their endings.
  std::string data_dir;    // The tracker's. Empty: none, so that its sessions end with it.

  std::string users_file() const { return base + ".users"; }
  std::string lock_file() const { return base + ".lock"; }
  std::string log_file() const { return base + ".log"; }
  std::string socket_file() const { return base + ".sock"; }
  std::string tracker_address() const { return "unix:" + socket_file(); }
  // Where the bridges reach the gateway, which nobody else can be.
  std::string gateway_socket_file() const { return base + ".gateway.sock"; }
  std::string gateway_socket_address() const { return "unix:" + gateway_socket_file(); }
};

// Makes the folder, $XDG_RUNTIME_DIR/callslip or /tmp/callslip-UID, where it is missing; and the
// one of the data directories, $XDG_DATA_HOME/callslip or ~/.local/share/callslip, where that can
// be. INVALID_ARGUMENT unless `gateway` is http://HOST:PORT/mcp on this machine;
// FAILED_PRECONDITION where the folder is not this user's alone, or its path too long for that of a
// socket.
absl::StatusOr<AutostartPlan> PlanAutostart(const GatewayUrl& gateway,
                                            const std::string& token_file);

// The folder of the running program, where its siblings are.
std::string ProgramFolder();

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_SERVICE_AUTOSTART_PLAN_H_
