#pragma once

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
  kActive,     // Accepts events.
  kCompleted,  // Has ended; can be resumed.
};

// "active", "completed": as in metadata.json.
absl::string_view SessionStateName(SessionState state);

// What runs a session: the agent that it names, in its directory.
struct AgentPlace {
  std::string acp_server;
  std::string working_dir;
  friend bool operator==(const AgentPlace&, const AgentPlace&) = default;
};

// An agent that created a session or wrote a message to it: its rules apply to what comes of that.
struct Maker {
  AgentPlace place;
  std::string runner_id;   // The runner that had its session then; empty: none.
  std::string session_id;  // Its session.
  friend bool operator==(const Maker&, const Maker&) = default;
};

// Summary of the queue, which is stored separately.
struct QueueSummary {
  size_t length = 0;    // Including a message that is being sent.
  std::string turn_id;  // The turn in progress; empty if there is none.
  bool paused = false;
  std::string pause_reason;  // If it is paused.
  // If the session sets it.
  std::optional<bool> enabled;
  // The agents that wrote messages in it, each once.
  std::vector<Maker> writers;
  friend bool operator==(const QueueSummary&, const QueueSummary&) = default;
};

struct SessionMetadata {
  std::string session_id;
  std::string name;
  // The client that created it; empty if it was not given, kNobody if it can't be read.
  std::string owner;
  std::string acp_server;
  std::string working_dir;
  absl::Time created_at;
  absl::Time updated_at;
  SessionState state = SessionState::kActive;
  std::string end_reason;
  bool archived = false;
  absl::Time archived_at;  // If it is archived.
  // Of the events in the log.
  int64_t event_count = 0;
  int64_t log_bytes = 0;
  // The newest seq ever used.
  int64_t max_seq = 0;
  // Of its images, which are not part of the log but count like it.
  int64_t image_bytes = 0;
  // The session whose agent created it, and its depth in a chain of such sessions; empty and 0 if a
  // person created it.
  std::string parent_session_id;
  int depth = 0;
  // It does not end with its parent.
  bool detached = false;
  // The agent that created it; nullopt if a person did.
  std::optional<Maker> maker;
  // The only runner that can serve it. Empty: any that suits.
  std::string only_runner;
  AgentState agent;
  // Hash of the token that identifies its agent; empty if there is none.
  std::string agent_token_hash;
  QueueSummary queue;
  // Open permission requests. Not stored, because the requests are not.
  size_t open_permissions = 0;
  // It has work (see HasWork()), and no runner takes its messages. Not stored, but derived.
  bool needs_agent = false;
  // Why its files can't be read; empty if they can. Not stored: the next call tries again.
  std::string damage;
  friend bool operator==(const SessionMetadata&, const SessionMetadata&) = default;
};

AgentPlace PlaceOf(const SessionMetadata& session);

// Whether an agent has work: a turn in progress, or a message that will be sent automatically, now
// or later. False if the session has ended or can't be read.
bool HasWork(const SessionMetadata& session, bool enabled_by_default);

// For lists, which have no room for the details.
SessionMetadata WithoutDetails(SessionMetadata session);

// Copies the members that are not stored from `known` to `session`, which was read from its files.
void KeepUnstored(const SessionMetadata& known, SessionMetadata& session);

struct SessionRequest {
  // Empty: one is generated. Otherwise [A-Za-z0-9_-]{1,64}, not in use.
  std::string session_id;
  std::string name;
  std::string owner;
  std::string acp_server;
  std::string working_dir;
  // The session whose agent creates it; empty: none.
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

// Limits of a log's length, and how long an ended session is kept. Zero: unlimited.
struct SessionRetention {
  int64_t max_events = 0;
  int64_t max_bytes = 0;
  absl::Duration keep_ended = absl::ZeroDuration();
};

// INVALID_ARGUMENT unless `id` is [A-Za-z0-9_-]{1,64}. Call before an id touches a path.
absl::Status CheckSessionId(absl::string_view id);

// An id for a session without one: its day and time, and 64 bits that can't be guessed.
std::string NewSessionId(absl::Time now);

}  // namespace callslip::tracker
