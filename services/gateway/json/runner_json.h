#pragma once

#include "callslip/tracker/v1/runner_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// {"runners": […]}: each with what it has reported about itself, and its load.
Json RunnersJson(const v1::ListRunnersResponse& listed);
// {"agents": […]}: each agent once, by its name. `problem` is present if no connected runner has
// the agent without one.
Json AgentsJson(const v1::ListRunnersResponse& listed);
// {"workspaces": […]}: each pair of name and directory once, with the agents that may work there.
Json WorkspacesJson(const v1::ListRunnersResponse& listed);

}  // namespace callslip::gateway
