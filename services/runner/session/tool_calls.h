#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "runner/acp/agent_update.h"

namespace callslip::runner {

// What the agent has sent about its unfinished tool calls: a permission request can name a call and
// omit everything sent before, including its kind. Ids can be reused in the next prompt or process,
// so each prompt has its own instance.
class ToolCalls {
 public:
  // Beyond this, the oldest call is forgotten.
  static constexpr size_t kMaxCalls = 256;
  // Limit of each member of a call; a larger one is not kept. The same as the limit for a question.
  static constexpr size_t kMaxBytes = size_t{64} << 10;

  void Take(const ToolCall& call);
  void Take(const ToolCallChange& change);
  // Adds what the question omits, also to its details. Its kind stays absent if nothing is known
  // about the call.
  void Complete(PermissionQuestion& question) const;

 private:
  void Forget(const std::string& id);

  std::map<std::string, ToolCallChange> calls_;
  std::deque<std::string> order_;
};

}  // namespace callslip::runner
