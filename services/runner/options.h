#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/config.h"
#include "runner/config.h"

namespace callslip::runner {

// The command-line options, which add to the file or override it.
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

// Returns the file's configuration with the options applied. NOT_FOUND, INVALID_ARGUMENT if an
// option is invalid; `problems` lists what is wrong with the file's text.
absl::StatusOr<LoadedConfig> LoadConfig(const Options& options);

// The options with which another command finds the same agents, quoted for a shell.
std::string AgentOptions(const Options& options);

// Path of callslip-keeper: next to this program, or where packages install it.
std::string KeeperPath();

std::string HostName();

}  // namespace callslip::runner
