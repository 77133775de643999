#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_METADATA_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/session/agent_state.h"

namespace callslip::tracker {

enum class SessionState {
  kActive,     // Takes events.
  kCompleted,  // Has ended; can be resumed.
};

// "active", "completed": as metadata.json has it.
absl::string_view SessionStateName(SessionState state);

// What metadata tell of the queue, which is stored by itself.
struct QueueSummary {
  size_t length = 0;    // With what is being sent.
  std::string turn_id;  // The turn that is under way; empty where there is none.
  bool paused = false;
  std::string pause_reason;  // Where it is.
  // Where the session says it itself.
  std::optional<bool> enabled;
  friend bool operator==(const QueueSummary&, const QueueSummary&) = default;
};

// What a session is run by: the agent that it names, in its directory.
struct AgentPlace {
  std::string acp_server;
  std::string working_dir;
  friend bool operator==(const AgentPlace&, const AgentPlace&) = default;
};

// The agent that has made a session.
struct Maker {
  AgentPlace place;
  std::string runner_id;  // That had its session then; empty: none.
  friend bool operator==(const Maker&, const Maker&) = default;
};

struct SessionMetadata {
  std::string session_id;
  std::string name;
  // Who made it; empty where nobody said, kNobody where that can't be read.
  std::string owner;
  std::string acp_server;
  std::string working_dir;
  absl::Time created_at;
  absl::Time updated_at;
  SessionState state = SessionState::kActive;
  std::string end_reason;
  bool archived = false;
  absl::Time archived_at;  // Where it is archived.
  // Of the events that the log holds.
  int64_t event_count = 0;
  int64_t log_bytes = 0;
  // The newest seq that was ever used.
  int64_t max_seq = 0;
  // Of its images, which are no part of the log but count as it does.
  int64_t image_bytes = 0;
  // Whose agent has made it, and how many above it were made so; empty and 0 where a person has.
  std::string parent_session_id;
  int depth = 0;
  // It does not end with its parent.
  bool detached = false;
  // The agent that has made it, whose rules hold for it: none where a person has.
  std::optional<Maker> maker;
  // The runner that it is given to, and no other one. Empty: whichever suits.
  std::string only_runner;
  AgentState agent;
  // Of the token by which its agent is known; empty where there is none.
  std::string agent_token_hash;
  QueueSummary queue;
  // Questions that wait for an answer. Not stored, as they are not.
  size_t open_permissions = 0;
  // It has work (see HasWork()), and no runner takes its messages. Not stored, but found out.
  bool needs_agent = false;
  // Why its files can't be read; empty where they can. Not stored: the next call tries again.
  std::string damage;
  friend bool operator==(const SessionMetadata&, const SessionMetadata&) = default;
};

AgentPlace PlaceOf(const SessionMetadata& session);

// Whether an agent has something to do: a turn that is under way, or a message that is to be sent,
// now or later, by itself. Never where the session has ended or can't be read.
bool HasWork(const SessionMetadata& session, bool enabled_by_default);

// As the lists have it, in which there is no room for them.
SessionMetadata WithoutDetails(SessionMetadata session);

// Puts what is known of a session beside its files to what was read of them.
void KeepUnstored(const SessionMetadata& known, SessionMetadata& session);

struct SessionRequest {
  // Empty: one is made. Otherwise [A-Za-z0-9_-]{1,64}, not in use.
  std::string session_id;
  std::string name;
  std::string owner;
  std::string acp_server;
  std::string working_dir;
  // Whose agent makes it; empty: none.
  std::string parent_session_id = {};
  bool detached = false;
  std::optional<Maker> maker = std::nullopt;
  std::string only_runner = {};
};

struct SessionFilter {
  bool with_archived = false;
  std::optional<SessionState> state;
  ClientScope clients = ClientScope::All();
};

struct SessionPage {
  std::vector<SessionMetadata> sessions;  // Newest first.
  std::string next_page_token;            // Empty on the last page.
};

// How long a log may become and how long a session that has ended is kept. Zero: without bound.
struct SessionRetention {
  int64_t max_events = 0;
  int64_t max_bytes = 0;
  absl::Duration keep_ended = absl::ZeroDuration();
};

// INVALID_ARGUMENT unless `id` is [A-Za-z0-9_-]{1,64}. To be called before an id touches a path.
absl::Status CheckSessionId(absl::string_view id);

// An id for a session that brought none: its day and time, and 64 bits that nobody can guess.
std::string NewSessionId(absl::Time now);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_METADATA_H_
