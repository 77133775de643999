#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// An agent that a runner can start.
struct AgentOffer {
  std::string name;
  std::string title;    // For people; can be empty.
  std::string problem;  // Why it can't be started; empty if it can.
  // Agents that the sessions created by it can have, in addition to itself.
  std::vector<std::string> children = {};
};

// A directory with sessions that a runner serves.
struct Workspace {
  std::string name;
  std::string dir;                  // Absolute.
  std::vector<std::string> agents;  // Agents that can work there. Empty: all of the runner.
  // Further workspaces for sessions that its agents create.
  std::vector<std::string> children_in = {};
};

// A session that a runner holds, with the lease under which it was assigned.
struct HeldSession {
  std::string session_id;
  int64_t lease = 0;
};

// A runner's description of itself.
struct RunnerOffer {
  std::string runner_id;
  std::string version;
  std::vector<AgentOffer> agents;
  std::vector<Workspace> workspaces;
  int max_agents = 1;  // At a time.
  // Identifies the process: no two processes have the same.
  std::string instance = {};
  // The only session that it serves, which was created for it (SessionMetadata::only_runner).
  // Empty: all sessions that suit it.
  std::string only_session = {};
  // Clients whose sessions it serves.
  ClientScope clients = ClientScope::All();
};

// A session that has work for an agent.
struct SessionNeed {
  std::string session_id;
  std::string owner;
  AgentPlace place;
  std::vector<Maker> makers = {};  // The agents that created it and wrote its waiting messages.
  std::string only_runner = {};    // As in SessionMetadata.
};
SessionNeed NeedOf(const SessionMetadata& session);

// A runner in a list.
struct RunnerInfo {
  RunnerOffer offer;
  int running_agents = 0;  // Sessions whose agent runs or starts.
  int waiting_agents = 0;
  int sessions = 0;
  absl::Time known_since;
  bool connected = false;
};

// Number of runners that have called.
struct RunnerCounts {
  int known = 0;
  int connected = 0;  // Of these.
};

// InvalidField unless ids and names are as documented in runner_service.proto, directories are
// absolute, and no limit is exceeded.
absl::Status CheckOffer(const RunnerOffer& offer);

// The workspace whose rules apply at `place`: the innermost of those in which the agent can work.
// Null if there is none, or no such agent.
const Workspace* WorkspaceOf(const RunnerOffer& offer, const AgentPlace& place);

// How well a runner suits a session.
enum class Fit {
  kNone,     // It has no such agent, or no workspace for it.
  kProblem,  // It has both, but the agent can't be started.
  kGood,
};
// `makers`: see SessionNeed; the runner's rules must allow them the session.
Fit FitOf(const RunnerOffer& offer, const AgentPlace& place, absl::Span<const Maker> makers = {});

// Whether an agent at `maker` may have a session at `child` by this runner's rules: where the
// agent's own rules apply, or where they allow it. NoRunnerFor if the runner does not serve both
// places, AgentNotAllowed, WorkspaceNotAllowed.
absl::Status CheckChild(const RunnerOffer& offer, const AgentPlace& maker, const AgentPlace& child);

}  // namespace callslip::tracker
