#include "tracker/domain/session/player_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {

absl::StatusOr<std::vector<EventPtr>> MovePlayer(Session& session, const PlayerMove& move,
                                                 PlayerPlace& place) {
  if (move.kind == PlayerMove::Kind::kSeek) {
    if (move.value < 0 || move.value > place.length) return InvalidPlayerPosition(place.length);
    place.position = move.value;
    return std::vector<EventPtr>();
  }
  if (move.value < 1 || move.value > kMaxEventPage) {
    return InvalidField("next or peek", absl::StrCat("has to be 1 to ", kMaxEventPage));
  }
  if (place.position >= place.length) return std::vector<EventPtr>();
  EventQuery query{.from = EventQuery::From::kPosition, .value = place.position, .type = move.type};
  const int64_t left = place.length - place.position;
  query.limit = static_cast<int>(move.type.empty() ? std::min(move.value, left) : move.value);
  ASSIGN_OR_RETURN(EventPage page, session.Read(query));
  std::erase_if(page.events, [&](const EventPtr& event) { return event->seq > place.max_seq; });
  if (move.kind == PlayerMove::Kind::kNext) {
    // If there are no more events, this is the end, or the log was shortened.
    place.position = page.has_more ? std::min(page.next_position, place.length) : place.length;
  }
  return std::move(page.events);
}

absl::StatusOr<PlayerPlace> PlayerTable::Open(std::string client_id, const SessionMetadata& session,
                                              absl::Time now) {
  PlayerPlace place{.player_id = absl::StrFormat("player-%016x", Random64()),
                    .client_id = std::move(client_id),
                    .session_id = session.session_id,
                    .length = session.event_count,
                    .max_seq = session.max_seq};
  MutexLock lock(&mutex_);
  size_t of_client = 0;
  players_.ForEach(
      now, [&](const PlayerPlace& each) { of_client += each.client_id == place.client_id; });
  if (of_client >= kMaxPlayersOfClient) return TooManyPlayers(kMaxPlayersOfClient, true);
  if (players_.Add(place.player_id, place, now) == nullptr) {
    return TooManyPlayers(kMaxPlayers, false);
  }
  return place;
}

absl::StatusOr<PlayerPlace> PlayerTable::Get(const std::string& client_id,
                                             const std::string& player_id, absl::Time now) {
  MutexLock lock(&mutex_);
  const PlayerPlace* place = players_.Use(player_id, now);
  if (place == nullptr || place->client_id != client_id) return PlayerNotFound(player_id);
  return *place;
}

void PlayerTable::SetPosition(const std::string& player_id, int64_t position, absl::Time now) {
  MutexLock lock(&mutex_);
  PlayerPlace* place = players_.Use(player_id, now);
  if (place != nullptr) place->position = std::min(position, place->length);
}

absl::Status PlayerTable::Close(const std::string& client_id, const std::string& player_id,
                                absl::Time now) {
  RETURN_IF_ERROR(Get(client_id, player_id, now).status());
  MutexLock lock(&mutex_);
  players_.Remove(player_id);
  return absl::OkStatus();
}

}  // namespace callslip::tracker
