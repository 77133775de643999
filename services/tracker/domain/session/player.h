#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tracker/domain/session/session_event.h"
#include "tracker/domain/session/session_storage.h"

namespace callslip::tracker {

// Reviews a recorded session: a position among its events, and steps from there. Holds one page of
// events, however long the session is. Events recorded after Open() are not played. Not
// thread-safe; each step can read from the source, which must outlive the player and must not be
// pruned meanwhile.
class Player {
 public:
  // Reads the length of the session. Returns the source's errors, as do the methods below.
  static absl::StatusOr<Player> Open(EventSource* source);

  // The event at the position, which Next() also advances by one. Null at the end.
  absl::StatusOr<EventPtr> Next();
  absl::StatusOr<EventPtr> Peek();

  // To 0 (before the first event) … length() (after the last). InvalidField beyond that.
  absl::Status Seek(int64_t position);
  int64_t position() const { return position_; }
  int64_t length() const { return length_; }

  // How long to wait after `previous` before `next` is shown, at `speed` times the recorded pace.
  // Zero if the recording steps back in time, or `speed` is not above zero.
  static absl::Duration Gap(const SessionEvent& previous, const SessionEvent& next, double speed);

 private:
  Player(EventSource* source, int64_t length) : source_(source), length_(length) {}

  EventSource* source_;
  int64_t length_;
  int64_t position_ = 0;
  // Events from page_begin_ on.
  std::vector<EventPtr> page_;
  int64_t page_begin_ = 0;
};

}  // namespace callslip::tracker
