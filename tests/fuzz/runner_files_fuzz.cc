// A runner.yaml of whatever origin. On any content the reader returns, each problem has its place
// and is text, and the accepted settings are within their limits.
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "fuzz/require.h"
#include "runner/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace callslip::runner;
  using callslip::Require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const LoadedConfig loaded = ParseRunnerConfig(text, "runner.yaml");
  for (const std::string& problem : loaded.problems) {
    Require(absl::StartsWith(problem, "runner.yaml:"), "a place");
  }
  if (!loaded.problems.empty()) return 0;
  const RunnerConfig& config = loaded.config;
  for (const auto& [name, agent] : config.agents) {
    Require(!name.empty() && agent.start_timeout > absl::ZeroDuration(),
            "a name, and a time to start");
  }
  for (const auto& [name, workspace] : config.workspaces) {
    Require(!name.empty() && workspace.max_running > 0, "a name, and room for an agent");
  }
  return 0;
}
