#ifndef CALLSLIP_RUNNER_SESSION_SHELL_RESULTS_H_
#define CALLSLIP_RUNNER_SESSION_SHELL_RESULTS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace callslip::runner {

// What becomes of shell commands, one after the other, as the agent's next prompt of at most `most`
// bytes: where all of it does not fit, the longest are cut, and say so. An empty one is told as
// lost. `most` is at least 256 for each.
std::string ShellResults(const std::vector<std::string>& results, size_t most);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SHELL_RESULTS_H_
