#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_OPEN_TOOL_CALLS_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_OPEN_TOOL_CALLS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/shell_commands.h"
#include "tracker/domain/session/session_event.h"

namespace callslip::tracker {

// The tool calls of a session's turn whose end nobody has recorded. An agent that is stopped or
// dies tells of none.
class OpenToolCalls {
 public:
  // The first of more is forgotten: the commands of one answer, and more than agents have open.
  static constexpr size_t kMaxOpen = kMaxShellCommands + 64;

  // To be called for all events of the turn, in order.
  void Note(const EventFacts& facts);
  // A turn has begun, or is over.
  void Clear() { ids_.clear(); }

  // In the order in which they have begun.
  const std::vector<std::string>& ids() const { return ids_; }

 private:
  std::vector<std::string> ids_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_OPEN_TOOL_CALLS_H_
