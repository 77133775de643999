#pragma once

#include <cstdint>
#include <vector>

#include "tracker/domain/session/session_event.h"

namespace callslip::tracker {

// What a session's log contains of its agent's last answer: enough to use no id twice and to record
// nothing twice, whatever was lost with the process.
class RecordedAnswer {
 public:
  // Call for all events, in order.
  void Note(int64_t seq, const EventFacts& facts);

  // -1 if the log contains none.
  int64_t iteration() const { return iteration_; }
  // Its agent_message is recorded.
  bool ended() const { return ended_; }
  // The seqs of its commands' tool_calls, by index.
  const std::vector<int64_t>& commands() const { return commands_; }

 private:
  // Returns false if the log has a later one.
  bool GoTo(int64_t iteration);

  int64_t iteration_ = -1;
  bool ended_ = false;
  std::vector<int64_t> commands_;
};

}  // namespace callslip::tracker
