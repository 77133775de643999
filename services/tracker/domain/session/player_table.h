#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/session/idle_map.h"
#include "tracker/domain/session/session.h"

namespace callslip::tracker {

// Review is for people: a few players each. A place costs about 200 bytes.
inline constexpr size_t kMaxPlayers = 1000;
inline constexpr size_t kMaxPlayersOfClient = 250;
// Longer than the pauses of a person who is still watching.
inline constexpr absl::Duration kPlayerIdle = absl::Minutes(10);
// Multiples of the recorded pace.
inline constexpr double kMinPlaySpeed = 0.01;
inline constexpr double kMaxPlaySpeed = 1000;

// A client's place in the events of a session, kept between calls.
struct PlayerPlace {
  std::string player_id;  // player-{16 hexadecimal digits}
  std::string client_id;
  std::string session_id;
  // Number of events before it: 0 to `length`.
  int64_t position = 0;
  // Extent of the session when the player was opened: it plays no more than that.
  int64_t length = 0;
  int64_t max_seq = 0;
};

// One step of a player.
struct PlayerMove {
  enum class Kind {
    kNext,  // Reads `value` events and moves past them.
    kPeek,  // Reads `value` events and stays.
    kSeek,  // Moves to the position `value`.
  };
  Kind kind = Kind::kNext;
  int64_t value = 1;
  // Only events of this type; empty: all types.
  std::string type;
};

// Carries out one step in `session`, on its thread, and returns the events that were read: up to a
// page. With a type, can return fewer events than exist: continue until the position is at the end.
// InvalidField, InvalidPlayerPosition, and the storage's errors.
absl::StatusOr<std::vector<EventPtr>> MovePlayer(Session& session, const PlayerMove& move,
                                                 PlayerPlace& place);

// The players that clients have opened, in memory. A player that was not used for kPlayerIdle is
// closed. Thread-safe.
class PlayerTable {
 public:
  // Opens a player at the beginning of the session's present events. TooManyPlayers.
  absl::StatusOr<PlayerPlace> Open(std::string client_id, const SessionMetadata& session,
                                   absl::Time now);
  // PlayerNotFound, also for another client's player.
  absl::StatusOr<PlayerPlace> Get(const std::string& client_id, const std::string& player_id,
                                  absl::Time now);
  // Harmless if the player was closed meanwhile.
  void SetPosition(const std::string& player_id, int64_t position, absl::Time now);
  // PlayerNotFound.
  absl::Status Close(const std::string& client_id, const std::string& player_id, absl::Time now);

 private:
  Mutex mutex_;
  IdleMap<PlayerPlace> players_ ABSL_GUARDED_BY(mutex_){kMaxPlayers, kPlayerIdle};
};

}  // namespace callslip::tracker
