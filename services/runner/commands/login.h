#pragma once

#include <ostream>
#include <string>

#include "runner/commands/agent_inquiry.h"
#include "runner/config.h"

namespace callslip::runner {

// Which agent to log in to, and how.
struct LoginRequest {
  std::string agent;   // Its name in the configuration.
  std::string method;  // One of the agent's methods; empty: the only one for a terminal.
  InquiryPlace place;
};

// `callslip-runner login AGENT [METHOD]`: asks the agent for its login methods, then runs the
// method's command on the terminal of this process until it exits. Only the agent opens a browser,
// if necessary; this program does not, nor does it call `authenticate` unless `auth_method` is
// configured. Returns the exit code of the program: 0 if a user is logged in, 1 if not, 2 if METHOD
// is required.
int RunLogin(const RunnerConfig& config, const LoginRequest& login, std::ostream& out);

}  // namespace callslip::runner
