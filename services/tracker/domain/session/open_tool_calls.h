#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/shell_commands.h"
#include "tracker/domain/session/session_event.h"

namespace callslip::tracker {

// The tool calls of a session's turn that have no recorded end. An agent that is stopped or dies
// reports none.
class OpenToolCalls {
 public:
  // The commands of one answer, and more than agents have open. Beyond that, the oldest is dropped.
  static constexpr size_t kMaxOpen = kMaxShellCommands + 64;

  // Call for all events of the turn, in order.
  void Note(const EventFacts& facts);
  // A turn has begun or ended.
  void Clear() { ids_.clear(); }

  // In the order in which they began.
  const std::vector<std::string>& ids() const { return ids_; }

 private:
  std::vector<std::string> ids_;
};

}  // namespace callslip::tracker
