#include "tracker/domain/session/player.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {

absl::StatusOr<Player> Player::Open(EventSource* source) {
  EventQuery query;
  query.from = EventQuery::From::kPosition;
  query.limit = 1;
  ASSIGN_OR_RETURN(const EventPage page, source->Read(query));
  return Player(source, page.length);
}

absl::StatusOr<EventPtr> Player::Next() {
  ASSIGN_OR_RETURN(EventPtr event, Peek());
  if (event != nullptr) ++position_;
  return event;
}

absl::StatusOr<EventPtr> Player::Peek() {
  if (position_ >= length_) return EventPtr();
  const auto page_end = page_begin_ + static_cast<int64_t>(page_.size());
  if (position_ < page_begin_ || position_ >= page_end) {
    EventQuery query;
    query.from = EventQuery::From::kPosition;
    query.value = position_;
    ASSIGN_OR_RETURN(EventPage page, source_->Read(query));
    if (page.events.empty()) {  // Pruned meanwhile.
      length_ = position_;
      return EventPtr();
    }
    page_ = std::move(page.events);
    page_begin_ = position_;
  }
  return page_[static_cast<size_t>(position_ - page_begin_)];
}

absl::Status Player::Seek(int64_t position) {
  if (position < 0 || position > length_) {
    return InvalidField("position", absl::StrCat("has to be 0 to ", length_));
  }
  position_ = position;
  return absl::OkStatus();
}

absl::Duration Player::Gap(const SessionEvent& previous, const SessionEvent& next, double speed) {
  if (!(speed > 0)) return absl::ZeroDuration();
  return std::max(absl::ZeroDuration(), (next.timestamp - previous.timestamp) / speed);
}

}  // namespace callslip::tracker
