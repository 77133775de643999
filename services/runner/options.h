#ifndef CALLSLIP_RUNNER_OPTIONS_H_
#define CALLSLIP_RUNNER_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "auth/principal.h"
#include "common/config.h"
#include "runner/config.h"

namespace callslip::runner {

// What the command line says beside the file, and instead of it.
struct Options {
  std::string file;
  std::string tracker;
  std::string gateway;
  std::string token_file;
  std::string agent;
  std::string dir;
  std::string otlp_endpoint;

  void AddTo(OptionSet& options);
};

// The file's configuration with what the options change of it. NOT_FOUND, INVALID_ARGUMENT where an
// option means nothing; what is wrong with the file's text is in `problems`.
absl::StatusOr<LoadedConfig> LoadConfig(const Options& options);

// The options by which another command finds the same agents, as a shell is to have them.
std::string AgentOptions(const Options& options);

// By which the tracker knows this program as a runner, or as a client of its own; empty where it
// needs none. FAILED_PRECONDITION where the token file has none of that role.
absl::StatusOr<std::string> TokenFor(Role role, const RunnerConfig& config);

// callslip-keeper, where this program is or where packages have it.
std::string KeeperPath();

std::string HostName();

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_OPTIONS_H_
