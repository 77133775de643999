#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/co_spawn.hpp"
#include "rpc_client/tracker_calls.h"
#include "runner/running_agents.h"
#include "runner/timers.h"

namespace callslip::runner {

// The data shared by all sessions of a runner.
struct SessionHost {
  boost::asio::any_io_executor executor;
  Timers* timers = nullptr;
  TrackerCalls* tracker = nullptr;
  // Returns a number from 0 to 1; spreads the starts of agents that ended together.
  std::function<double()> chance;
  bool is_stopping = false;  // The runner is stopping: no agent is started any more.
};

// Runs `coroutine`, and keeps `owner` alive until it ends.
template <typename Owner, typename Coroutine>
void SpawnFor(std::shared_ptr<Owner> owner, const boost::asio::any_io_executor& executor,
              Coroutine coroutine) {
  boost::asio::co_spawn(executor, std::move(coroutine),
                        [owner = std::move(owner)](const std::exception_ptr&) {});
}

// Decides which sessions have an agent: see RunningAgents.
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
