#ifndef CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_H_
#define CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// An agent that a runner can start.
struct AgentOffer {
  std::string name;
  std::string title;    // For people; may be empty.
  std::string problem;  // Why it can't be started; empty where it can.
  // Those that sessions made by it may have, beside itself.
  std::vector<std::string> children = {};
};

// A directory whose sessions a runner serves.
struct Workspace {
  std::string name;
  std::string dir;                  // Absolute.
  std::vector<std::string> agents;  // That may work there. Empty: all of the runner.
  // Where sessions that are made by its agents may work, too.
  std::vector<std::string> children_in = {};
};

// A session that a runner holds, by the number that it was given with it.
struct HeldSession {
  std::string session_id;
  int64_t lease = 0;
};

// What a runner says of itself.
struct RunnerOffer {
  std::string runner_id;
  std::string version;
  std::vector<AgentOffer> agents;
  std::vector<Workspace> workspaces;
  int max_agents = 1;  // At a time.
  // Of the process: no two have the same.
  std::string instance = {};
  // The only session that it serves, which was made for it (SessionMetadata::only_runner). Empty:
  // all that suit it.
  std::string only_session = {};
  // Whose sessions it serves.
  ClientScope clients = ClientScope::All();
};

// A session that has work for an agent.
struct SessionNeed {
  std::string session_id;
  std::string owner;
  AgentPlace place;
  std::optional<Maker> maker = {};  // The agent that has made it, or that writes to it; or none.
  std::string parent = {};          // The session of that agent.
  std::string only_runner = {};     // As SessionMetadata has it.
};
SessionNeed NeedOf(const SessionMetadata& session);

// A runner as lists have it.
struct RunnerInfo {
  RunnerOffer offer;
  int running_agents = 0;  // Its sessions whose agent runs or starts.
  int waiting_agents = 0;
  int sessions = 0;
  absl::Time known_since;
  bool connected = false;
};

// How many runners have called.
struct RunnerCounts {
  int known = 0;
  int connected = 0;  // Of these.
};

// InvalidField unless ids and names are as runner_service.proto has them, directories are absolute,
// and there are no more than there may be.
absl::Status CheckOffer(const RunnerOffer& offer);

// The workspace whose rules hold there: of those that the agent may work in the innermost one. Null
// where there is none, or no such agent.
const Workspace* WorkspaceOf(const RunnerOffer& offer, const AgentPlace& place);

// How well a runner suits a session.
enum class Fit {
  kNone,     // It has no such agent, or no workspace for it.
  kProblem,  // It has, but the agent can't be started.
  kGood,
};
// `maker` is the place of the agent that has made the session, where one has.
Fit FitOf(const RunnerOffer& offer, const AgentPlace& place,
          const std::optional<AgentPlace>& maker = std::nullopt);

// Whether an agent at `maker` may have a session at `child`, as this runner has it: where its own
// rules hold, or where they allow it. NoRunnerFor where it serves one of both not, AgentNotAllowed,
// WorkspaceNotAllowed.
absl::Status CheckChild(const RunnerOffer& offer, const AgentPlace& maker, const AgentPlace& child);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_H_
