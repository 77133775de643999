#pragma once

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

// Converts an update to the events that record it. None for the agent's commands, modes, settings,
// title and usage, which are part of its state, nor for replayed user messages, which were recorded
// before. The events are within the tracker's limits (4 MiB per event): a long text becomes several
// events of at most EventBatch::kMaxMergedBytes, names and titles are truncated, and JSON larger
// than kMaxJsonBytes, or with too many values, is replaced by a note.
std::vector<NewEvent> EventsOf(const AgentUpdate& update);
// The text of an agent_message chunk; nullopt for any other update.
std::optional<std::string> AgentTextOf(const AgentUpdate& update);
inline constexpr size_t kMaxJsonBytes = size_t{768} << 10;
// For all details of an event together; the tracker accepts 200,000 values per event.
inline constexpr size_t kMaxEventValues = 180'000;
inline constexpr size_t kMaxTitleBytes = size_t{16} << 10;
inline constexpr size_t kMaxPlanEntries = 500;
inline constexpr size_t kMaxPlanTextBytes = size_t{4} << 10;

// Shortens an agent's id to at most kMaxIdBytes: a longer id becomes its beginning and a hash of
// the whole, so that it stays distinct and can be found again.
std::string IdText(absl::string_view id);
inline constexpr size_t kMaxIdBytes = 128;

// Replaces an event that the tracker rejected, and states why.
v1::SessionEvent LeftOut(const v1::SessionEvent& refused, absl::string_view why);

// The events of a session that are still to be recorded, in order. Consecutive chunks of one
// message become one event, up to kMaxMergedBytes, and so do updates of one tool call.
class EventBatch {
 public:
  // Limits of one call, and of one merged event.
  static constexpr size_t kMaxEvents = 500;
  static constexpr size_t kMaxBytes = size_t{3} << 20;
  static constexpr size_t kMaxMergedBytes = size_t{256} << 10;

  void Add(NewEvent event);
  // Removes and returns the first events, as many as fit into one call; at least one if there is
  // any.
  std::vector<v1::SessionEvent> Take();

  bool empty() const { return events_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  bool Merge(const NewEvent& event);

  std::deque<NewEvent> events_;
  size_t bytes_ = 0;
};

}  // namespace callslip::runner
