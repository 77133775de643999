#ifndef CALLSLIP_RUNNER_COMMANDS_AGENT_INQUIRY_H_
#define CALLSLIP_RUNNER_COMMANDS_AGENT_INQUIRY_H_

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "runner/acp/agent_update.h"
#include "runner/acp/messages_v1.h"
#include "runner/agent/agent_environment.h"
#include "runner/config.h"

namespace callslip::runner {

// Where agents are started for a person.
struct InquiryPlace {
  Environment environment;  // The runner's own.
  std::string directory;    // Where agents begin.
  std::string keeper;       // The path of callslip-keeper.
};

// Starts an agent as it is configured, hears what it says of itself, and ends it. Takes as long as
// its `start_timeout` and some seconds at most.
std::variant<acp::Capabilities, AgentError> Inquire(const std::string& name,
                                                    const AgentConfig& agent,
                                                    const InquiryPlace& place);

// Name and version of an agent that answers, such as "OpenCode 1.18.33"; or why it does not. What
// RunAgents() asks.
absl::StatusOr<std::string> WhoIs(const std::string& name, const AgentConfig& agent,
                                  const InquiryPlace& place);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_COMMANDS_AGENT_INQUIRY_H_
