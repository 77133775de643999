// The session's observers and playbacks.

#include <algorithm>
#include <utility>

#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {

absl::Status Session::CheckObservers() const {
  return observers_.size() + playbacks_.size() < limits_.observers_of_session
             ? absl::OkStatus()
             : TooManyObservers(limits_.observers_of_session);
}

absl::Status Session::Subscribe(int64_t after_seq, std::shared_ptr<SessionFeed> feed) {
  if (after_seq < 0) return InvalidField("after_seq", "is negative");
  RETURN_IF_ERROR(CheckObservers());
  feed->Begin(limits_, [later = later_, raw = feed.get()] {
    later([raw](Session& session, absl::Time) { session.Refill(raw); });
  });
  SessionSnapshot snapshot = Snapshot();
  if (metadata_.state == SessionState::kActive)
    snapshot.text = answers_->Text(metadata_.session_id);
  Tell(feed, std::move(snapshot));
  // An observer that has seen more than exists has seen another log: it starts with new events.
  observers_.push_back({.feed = std::move(feed), .seq = std::min(after_seq, record_->max_seq())});
  FillFromLog(observers_.back());
  return absl::OkStatus();
}

absl::Status Session::Play(const PlayRequest& request, std::shared_ptr<SessionFeed> feed,
                           absl::Time now) {
  RETURN_IF_ERROR(CheckObservers());
  if (!(request.speed >= 0)) return InvalidField("speed", "is negative");
  absl::StatusOr<Player> player = Player::Open(record_.get());
  RETURN_IF_ERROR(Checked(player.status()));
  RETURN_IF_ERROR(player->Seek(request.position));
  feed->Begin(limits_, [later = later_, raw = feed.get()] {
    later([raw](Session& session, absl::Time) { session.Refill(raw); });
  });
  Refresh();
  Tell(feed, Snapshot());
  playbacks_.push_back(
      {.feed = std::move(feed), .player = *std::move(player), .request = request, .due = now});
  return absl::OkStatus();
}

void Session::Unsubscribe(const SessionFeed* feed) {
  std::erase_if(observers_, [&](const Observer& observer) { return observer.feed.get() == feed; });
  std::erase_if(playbacks_, [&](const Playback& playback) { return playback.feed.get() == feed; });
}

void Session::Refill(const SessionFeed* feed) {
  for (Observer& observer : observers_) {
    if (observer.feed.get() == feed && observer.behind) return FillFromLog(observer);
  }
  for (Playback& playback : playbacks_) {
    // Advance(), which follows, continues the playback.
    if (playback.feed.get() == feed) playback.due = absl::InfinitePast();
  }
}

void Session::FillFromLog(Observer& observer) {
  EventPage page;
  if (const SessionFeed::Room room = observer.feed->RoomForLog(); room.bytes > 0) {
    EventQuery query;
    query.value = observer.seq;
    query.limit = static_cast<int>(std::min<size_t>(room.updates, kMaxEventPage));
    query.max_bytes = room.bytes;
    absl::StatusOr<EventPage> read = record_->Read(query);
    if (!Checked(read.status()).ok()) return;
    page = *std::move(read);
    observer.behind = page.has_more;
    if (!page.events.empty()) observer.seq = page.last_seq();
  }
  // Allow it to ask for more before it gets these, so that it asks when it has taken them.
  AfterCommit([feed = observer.feed, behind = observer.behind, max_seq = record_->max_seq(),
               events = std::move(page.events)](const absl::Status& status) {
    if (!status.ok()) return;
    feed->SetBehind(behind);
    for (const EventPtr& event : events) feed->Push({max_seq, event}, /*from_log=*/true);
  });
}

bool Session::PlayOn(Playback& playback, absl::Time now) {
  if (playback.feed->over()) return false;
  if (now < playback.due) return true;
  SessionFeed::Room room = playback.feed->RoomForLog();
  // Due events that do not fit wait for the reader: a playback can be delayed.
  std::vector<EventPtr> played;
  bool behind = false;
  bool over = false;
  // After a wait for the reader the pace continues from the present.
  absl::Time due = playback.due == absl::InfinitePast() ? now : playback.due;
  while (due <= now) {
    absl::StatusOr<EventPtr> event = playback.player.Peek();
    if (!Checked(event.status()).ok()) return true;
    over = *event == nullptr;
    behind = !over && (room.updates == 0 || ((*event)->bytes > room.bytes && !played.empty()));
    if (over || behind) break;
    room.bytes -= std::min(room.bytes, (*event)->bytes);
    --room.updates;
    played.push_back(*event);
    playback.player.Next().IgnoreError();  // The peeked event.
    absl::StatusOr<EventPtr> next = playback.player.Peek();
    if (!Checked(next.status()).ok()) return true;
    if (*next == nullptr) continue;
    due += Player::Gap(**event, **next, playback.request.speed);
  }
  playback.due = behind ? absl::InfiniteFuture() : due;
  AfterCommit([feed = playback.feed, behind, over, played = std::move(played),
               max_seq = record_->max_seq()](const absl::Status& status) {
    if (!status.ok()) return;
    feed->SetBehind(behind);
    for (const EventPtr& event : played) feed->Push({max_seq, event}, /*from_log=*/true);
    if (over) feed->End(absl::OkStatus());
  });
  return !over;
}

}  // namespace callslip::tracker
