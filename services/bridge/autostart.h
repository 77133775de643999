#ifndef CALLSLIP_BRIDGE_AUTOSTART_H_
#define CALLSLIP_BRIDGE_AUTOSTART_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bridge/gateway_client.h"
#include "common/clock.h"

namespace callslip::bridge {

// How `--autostart` runs one tracker and one gateway for any number of bridges, without a registry
// and without a process that has to be ended by hand. Three kinds of processes share two files in a
// folder that only their user can enter; all they know of each other are the locks on them:
//
//   bridge      holds the shared lock on FILE.users as long as it lives, and waits for the
//               exclusive lock on FILE.lock. Whoever gets it starts the supervisor and hands the
//               lock over.
//   supervisor  holds FILE.lock, runs tracker and gateway, and waits for the exclusive lock on
//               FILE.users: it has that once the last bridge is gone, and then ends both.
//   services    are killed by the kernel when their supervisor ends in any other way.
//
// The kernel drops the locks of whatever dies. Bridges for different gateways use different files.
// The supervisor keeps the files from looking forgotten, which would be removed from /tmp; where
// one is gone all the same it ends, and the bridges begin again with new files. It bounds the log.

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

// Waits for the gateway to answer at its socket, for `patience`; then tells in the log which of its
// addresses somebody else has, where there are such.
void ReportTakenAddresses(GatewayClient& gateway, Clock& clock, absl::Duration patience);

// The bridge's part. Does not return while the files can be used: meant for a thread of its own.
absl::Status KeepServicesRunning(const AutostartPlan& plan, Clock& clock);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_AUTOSTART_H_
