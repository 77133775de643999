#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tracker/domain/runner/runner.h"

// Every error of runners, by name, followed by its reason (see ErrorDetails), which is part of the
// public API.
namespace callslip::tracker {

absl::Status TooManyRunners(size_t limit);           // too_many_runners, RESOURCE_EXHAUSTED
absl::Status TooManyRunnersOfClient(size_t limit);   // The same.
absl::Status RunnerReplaced(absl::string_view id);   // runner_replaced, ABORTED
absl::Status RunnerNameTaken(absl::string_view id);  // runner_name_taken, ALREADY_EXISTS
absl::Status RunnerTooSlow();                        // too_slow, RESOURCE_EXHAUSTED
// No runner has that agent and a workspace with that directory.
absl::Status NoRunnerFor(absl::string_view acp_server, absl::string_view working_dir);  // no_runner
// Restrictions of the sessions that an agent creates: agent_not_allowed, workspace_not_allowed;
// both FAILED_PRECONDITION.
absl::Status AgentNotAllowed(const AgentOffer& parent, absl::string_view child);
absl::Status WorkspaceNotAllowed(const Workspace& parent, absl::string_view working_dir,
                                 absl::string_view child);
// The session is at another runner than the agent that writes to it: also workspace_not_allowed.
absl::Status OtherRunner(absl::string_view session_id);
// While the runner is not connected, an agent's rights and a lease can't be checked.
absl::Status RunnerAway();  // runner_away, UNAVAILABLE
// The session is for one runner, which is not connected: no_runner.
absl::Status ItsRunnerAway(absl::string_view runner_id);
// The runner serves only the session of a `prompt`: no_runner.
absl::Status RunnerServesOne(absl::string_view runner_id);
// The session's runner gave it up.
absl::Status RunnerGaveUp();                 // no_runner
absl::Status RunnerSilent();                 // runner_silent, DEADLINE_EXCEEDED
absl::Status TooManyControls(size_t limit);  // too_many_controls, RESOURCE_EXHAUSTED
// The runner's reason for the failure. `agent_failed` replaces a reason that is not a valid word.
absl::Status ControlFailed(absl::string_view reason, absl::string_view message);

}  // namespace callslip::tracker
