#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_PLAYER_TABLE_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_PLAYER_TABLE_H_

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

// Review is for people: a few players each. Their places cost some 200 bytes.
inline constexpr size_t kMaxPlayers = 1000;
inline constexpr size_t kMaxPlayersOfClient = 250;
// Longer than somebody pauses who still looks.
inline constexpr absl::Duration kPlayerIdle = absl::Minutes(10);
// How many times the recorded pace.
inline constexpr double kMinPlaySpeed = 0.01;
inline constexpr double kMaxPlaySpeed = 1000;

// A place in the events of a session that its client comes back to.
struct PlayerPlace {
  std::string player_id;  // player-{16 hexadecimal digits}
  std::string client_id;
  std::string session_id;
  // How many events are before it: 0 to `length`.
  int64_t position = 0;
  // What there was when it was opened: it plays no more than that.
  int64_t length = 0;
  int64_t max_seq = 0;
};

// One step of a player.
struct PlayerMove {
  enum class Kind {
    kNext,  // Reads `value` events and goes behind them.
    kPeek,  // Reads `value` events and stays.
    kSeek,  // Goes to the position `value`.
  };
  Kind kind = Kind::kNext;
  int64_t value = 1;
  // Only events of this type; empty: of all.
  std::string type;
};

// Carries out one step in `session`, on its thread, and returns what was read: up to a page. Fewer
// events than there are may come where the type is named: go on until the position is at the end.
// InvalidField, InvalidPlayerPosition, and the storage's errors.
absl::StatusOr<std::vector<EventPtr>> MovePlayer(Session& session, const PlayerMove& move,
                                                 PlayerPlace& place);

// The players that clients have opened. They live in memory; one that nobody has used for
// kPlayerIdle is closed. Thread-safe.
class PlayerTable {
 public:
  // A player at the beginning of what the session holds. TooManyPlayers.
  absl::StatusOr<PlayerPlace> Open(std::string client_id, const SessionMetadata& session,
                                   absl::Time now);
  // PlayerNotFound, also where it is another client's.
  absl::StatusOr<PlayerPlace> Get(const std::string& client_id, const std::string& player_id,
                                  absl::Time now);
  // Harmless where the player was closed meanwhile.
  void SetPosition(const std::string& player_id, int64_t position, absl::Time now);
  // PlayerNotFound.
  absl::Status Close(const std::string& client_id, const std::string& player_id, absl::Time now);

 private:
  Mutex mutex_;
  IdleMap<PlayerPlace> players_ ABSL_GUARDED_BY(mutex_){kMaxPlayers, kPlayerIdle};
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_PLAYER_TABLE_H_
