#ifndef CALLSLIP_RUNNER_SESSION_TOOL_CALLS_H_
#define CALLSLIP_RUNNER_SESSION_TOOL_CALLS_H_

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "runner/acp/agent_update.h"

namespace callslip::runner {

// What the agent has said of its tool calls that have not ended: where it asks for permission it
// may name a call, and leave out all that it has said before, its kind among that. Ids may come
// again with the next prompt or process, so there is one of these for each prompt.
class ToolCalls {
 public:
  // The first of more is forgotten.
  static constexpr size_t kMostCalls = 256;
  // Of each member of a call; a larger one is not kept. As much as a question may show.
  static constexpr size_t kMostBytes = size_t{64} << 10;

  void Take(const ToolCall& call);
  void Take(const ToolCallChange& change);
  // Adds what the question leaves out, to its details, too. Its kind stays absent where nothing was
  // said of the call.
  void Complete(PermissionQuestion& question) const;

 private:
  void Forget(const std::string& id);

  std::map<std::string, ToolCallChange> calls_;
  std::deque<std::string> order_;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_TOOL_CALLS_H_
