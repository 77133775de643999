#pragma once

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "runner/acp/agent_update.h"
#include "runner/acp/messages_v1.h"
#include "runner/agent/agent_environment.h"
#include "runner/config.h"

namespace callslip::runner {

// The environment of agents that are started for a user's command.
struct InquiryPlace {
  Environment environment;  // The runner's own.
  std::string directory;    // The initial directory of agents.
  std::string keeper;       // Path of callslip-keeper.
};

// Starts an agent as configured, reads its capabilities, and ends it. Takes at most its
// `start_timeout` and a few seconds.
std::variant<acp::Capabilities, AgentError> Inquire(const std::string& name,
                                                    const AgentConfig& agent,
                                                    const InquiryPlace& place);

// Returns the name and version of an agent that answers, such as "OpenCode 1.18.33"; or why it does
// not answer. The probe for RunAgents().
absl::StatusOr<std::string> WhoIs(const std::string& name, const AgentConfig& agent,
                                  const InquiryPlace& place);

}  // namespace callslip::runner
