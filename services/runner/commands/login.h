#ifndef CALLSLIP_RUNNER_COMMANDS_LOGIN_H_
#define CALLSLIP_RUNNER_COMMANDS_LOGIN_H_

#include <ostream>
#include <string>

#include "runner/commands/agent_inquiry.h"
#include "runner/config.h"

namespace callslip::runner {

// Who is to log in where.
struct LoginRequest {
  std::string agent;   // Its name in the configuration.
  std::string method;  // One of the agent's; empty: the only one that a terminal is for.
  InquiryPlace place;
};

// `callslip-runner login AGENT [METHOD]`: asks the agent how one logs in to it, then runs it as it
// wants that done, on the terminal of this process, until it ends. It is the agent that may open a
// browser; this program does not, nor does it call `authenticate` where `auth_method` is not
// configured. Returns what the program exits with: 0 where somebody is logged in, 1 where not, 2
// where METHOD has to be given.
int RunLogin(const RunnerConfig& config, const LoginRequest& login, std::ostream& out);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_COMMANDS_LOGIN_H_
