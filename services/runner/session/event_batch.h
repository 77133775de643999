#ifndef CALLSLIP_RUNNER_SESSION_EVENT_BATCH_H_
#define CALLSLIP_RUNNER_SESSION_EVENT_BATCH_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "callslip/tracker/v1/session.pb.h"
#include "runner/acp/agent_update.h"
#include "runner/session/new_event.h"

namespace callslip::runner {

namespace v1 = callslip::tracker::v1;

// The events that an update is recorded as; none for the agent's commands, modes, settings and
// usage, which are its state, and for what it repeats of its user, which was recorded before. They
// are within what the tracker accepts (4 MiB an event): a long text becomes several events of at
// most EventBatch::kMaxMergedBytes, names and titles are truncated, and JSON above kMaxJsonBytes,
// or of too many values, is replaced by a note.
std::vector<NewEvent> EventsOf(const AgentUpdate& update);
// The text of a piece of an agent_message; nothing for any other update.
std::optional<std::string> AgentTextOf(const AgentUpdate& update);
inline constexpr size_t kMaxJsonBytes = size_t{768} << 10;
// Of the details of an event together; the tracker accepts 200,000 in an event.
inline constexpr size_t kMaxEventValues = 180'000;
inline constexpr size_t kMaxTitleBytes = size_t{16} << 10;
inline constexpr size_t kMaxPlanEntries = 500;
inline constexpr size_t kMaxPlanTextBytes = size_t{4} << 10;

// An id of the agent's, in at most kMaxIdBytes: of a longer one the beginning, and a number made of
// the whole, so that it is still told from others and found again.
std::string IdText(absl::string_view id);
inline constexpr size_t kMaxIdBytes = 128;

// In place of an event that the tracker refuses, saying why.
v1::SessionEvent LeftOut(const v1::SessionEvent& refused, absl::string_view why);

// What is still to be recorded of a session, in its order. Pieces of one message that follow one
// another become one event, up to kMaxMergedBytes, and so do changes of one tool call.
class EventBatch {
 public:
  // Of one call, and of one event that pieces are added to.
  static constexpr size_t kMaxEvents = 500;
  static constexpr size_t kMaxBytes = size_t{3} << 20;
  static constexpr size_t kMaxMergedBytes = size_t{256} << 10;

  void Add(NewEvent event);
  // The first of them, as many as one call takes; one at least, where there is one.
  std::vector<v1::SessionEvent> Take();

  bool empty() const { return events_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  bool Merge(const NewEvent& event);

  std::deque<NewEvent> events_;
  size_t bytes_ = 0;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_EVENT_BATCH_H_
