#ifndef CALLSLIP_RUNNER_SESSION_SESSION_HOST_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_HOST_H_

#include <functional>
#include <string>

#include "boost/asio/any_io_executor.hpp"
#include "rpc_client/tracker_calls.h"
#include "runner/running_agents.h"
#include "runner/timers.h"

namespace callslip::runner {

// What all sessions of a runner share.
struct SessionHost {
  boost::asio::any_io_executor executor;
  Timers* timers = nullptr;
  TrackerCalls* tracker = nullptr;
  // From 0 to 1: so that agents that ended together don't all start together.
  std::function<double()> chance;
  bool is_stopping = false;  // The runner: no agent is started any more.
};

// Who decides which sessions have an agent: see RunningAgents.
class AgentScheduler {
 public:
  virtual ~AgentScheduler() = default;
  virtual void Want(const AgentWant& want) = 0;
  virtual void Started(const std::string& session) = 0;
  virtual void Busy(const std::string& session, bool busy) = 0;
  virtual void Ended(const std::string& session) = 0;
  virtual void Drop(const std::string& session) = 0;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SESSION_HOST_H_
