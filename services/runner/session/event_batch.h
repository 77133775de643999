#ifndef CALLSLIP_RUNNER_SESSION_EVENT_BATCH_H_
#define CALLSLIP_RUNNER_SESSION_EVENT_BATCH_H_

#include <cstddef>
#include <deque>
#include <vector>

#include "callslip/tracker/v1/session.pb.h"
#include "runner/acp/agent_update.h"

namespace callslip::runner {

namespace v1 = callslip::tracker::v1;

// The event that an update is recorded as; one without payload where it is none: what the agent
// says of its commands, modes, settings and usage is its state, and what it repeats of its user was
// recorded before. A text of JSON above kMaxJsonBytes is left out, and said to be.
v1::SessionEvent EventOf(const AgentUpdate& update);
inline constexpr size_t kMaxJsonBytes = size_t{1} << 20;

// What is still to be recorded of a session, in its order. Pieces of one message that follow one
// another become one event, and so do changes of one tool call.
class EventBatch {
 public:
  // Of one call, and of one event that pieces are added to.
  static constexpr size_t kMaxEvents = 500;
  static constexpr size_t kMaxBytes = size_t{3} << 20;
  static constexpr size_t kMaxMergedBytes = size_t{256} << 10;

  void Add(v1::SessionEvent event);
  // The first of them, as many as one call takes; one at least, where there is one.
  std::vector<v1::SessionEvent> Take();

  bool empty() const { return events_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  bool Merge(const v1::SessionEvent& event);

  std::deque<v1::SessionEvent> events_;
  size_t bytes_ = 0;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_EVENT_BATCH_H_
