#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "callslip/tracker/v1/runner_service.pb.h"
#include "tracker/domain/runner/runner.h"
#include "tracker/domain/session/agent_state.h"

// Conversions between the messages of RunnerService and the domain's types.
namespace callslip::tracker {

RunnerOffer OfferFrom(const v1::ServeRequest& request);
// InvalidField for a status that a runner cannot report.
absl::StatusOr<AgentChange> ChangeFrom(const v1::SetAgentStateRequest& request);
// InvalidField unless it names a valid action, mode or option.
absl::Status CheckControl(const v1::AgentControl& control);
void Fill(const RunnerInfo& runner, v1::Runner& message);

}  // namespace callslip::tracker
