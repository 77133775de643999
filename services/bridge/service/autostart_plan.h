#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bridge/http/gateway_client.h"

namespace callslip::bridge {

// The addresses of the services, and their files.
struct AutostartPlan {
  std::string gateway_address;  // HOST:PORT, for the browser and for agents without a bridge.
  std::string gateway_url;
  std::string token_file;  // Absolute; empty if there is none.
  std::string base;        // The path of the files, without their extensions.
  std::string data_dir;    // The tracker's; empty if there is none: its sessions then end with it.

  std::string users_file() const { return base + ".users"; }
  std::string lock_file() const { return base + ".lock"; }
  std::string log_file() const { return base + ".log"; }
  std::string socket_file() const { return base + ".sock"; }
  std::string tracker_address() const { return "unix:" + socket_file(); }
  // Where the bridges reach the gateway; no other user can listen there.
  std::string gateway_socket_file() const { return base + ".gateway.sock"; }
  std::string gateway_socket_address() const { return "unix:" + gateway_socket_file(); }
};

// Creates the folder, $XDG_RUNTIME_DIR/callslip or /tmp/callslip-UID, if it is missing; and the
// folder of the data directories, $XDG_DATA_HOME/callslip or ~/.local/share/callslip, if possible.
// INVALID_ARGUMENT unless `gateway` is http://HOST:PORT/mcp on this machine; FAILED_PRECONDITION if
// the folder is not private to this user, or its path is too long for a socket.
absl::StatusOr<AutostartPlan> PlanAutostart(const GatewayUrl& gateway,
                                            const std::string& token_file);

// The folder of the running program, which contains its siblings.
std::string ProgramFolder();

}  // namespace callslip::bridge
