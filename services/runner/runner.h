#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boost/asio/awaitable.hpp"
#include "boost/asio/io_context.hpp"
#include "rpc_client/tracker_calls.h"
#include "runner/running_agents.h"
#include "runner/session/session_runner.h"
#include "runner/timers.h"

namespace callslip::runner {

// The identity and abilities of a runner.
struct RunnerSetup {
  v1::ServeRequest offer;  // Without held sessions and the instance id.
  AgentLimits limits;
  std::string keeper;  // Path of callslip-keeper.
  // How the agent of a session is run; nullopt if this runner cannot run it, which the offer rules
  // out.
  std::function<std::optional<SessionPlan>(const v1::Session&)> plan_of;
  // Called with the lease each time that the tracker assigns a session or sends a request for one.
  std::function<void(int64_t lease)> when_given;
  // Called each time that the tracker starts to assign sessions, and each time that it stops.
  std::function<void()> when_serving;
  std::function<void(const absl::Status&)> when_refused;
};

// Serves the sessions that the tracker assigns, and decides which of them have an agent. Not
// thread-safe: use on one thread.
class Runner final : private AgentScheduler {
 public:
  // All arguments must outlive this; the context must have stopped before this is destroyed.
  Runner(boost::asio::io_context& context, Timers* timers, TrackerCalls* tracker,
         RunnerSetup setup);

  void Start();
  // Ends all agents, within the configured timeouts; calls `done` when none is left.
  void Stop(std::function<void()> done);

  size_t sessions() const { return sessions_.size(); }
  size_t agents() const { return scheduler_.processes(); }

 private:
  boost::asio::awaitable<void> Serve();
  void Take(const v1::Assignment& assignment);
  void Keep(const v1::Assignment& assignment);
  boost::asio::awaitable<void> GiveUp(v1::Assignment assignment);
  // Posts Step(), because its callers are in the middle of other work.
  void StepLater();
  void Step();
  void Forget();

  void Want(const AgentWant& want) override;
  void Started(const std::string& session) override;
  void Busy(const std::string& session, bool busy) override;
  void Ended(const std::string& session) override;
  void Drop(const std::string& session) override;

  boost::asio::io_context& context_;
  Timers* const timers_;
  const RunnerSetup setup_;
  const std::string instance_;
  SessionHost host_;
  RunningAgents scheduler_;
  // Assigned sessions that are not asleep.
  std::map<std::string, std::shared_ptr<SessionRunner>> sessions_;
  // Assignments to process once the session has ended under its earlier lease.
  std::map<std::string, std::vector<v1::Assignment>> later_;
  std::map<int64_t, std::weak_ptr<RunningAgent>> processes_;
  std::unique_ptr<Timers::Timer> step_timer_;
  bool stepping_ = false;
  std::function<void()> stopped_;
};

}  // namespace callslip::runner
