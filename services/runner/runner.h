#ifndef CALLSLIP_RUNNER_RUNNER_H_
#define CALLSLIP_RUNNER_RUNNER_H_

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

// What a runner is, and what it can run.
struct RunnerSetup {
  v1::ServeRequest offer;  // Without sessions, and the process.
  AgentLimits limits;
  std::string keeper;  // The path of callslip-keeper.
  // How the agent of a session is run; nothing where it can't be, which the offer rules out.
  std::function<std::optional<SessionPlan>(const v1::Session&)> plan_of;
  // Each time that it is given a session, or told what to do with one: by what lease it has that.
  std::function<void(int64_t lease)> when_given;
  // Each time that the tracker begins to give it sessions, and each time that it does not any more.
  std::function<void()> when_serving;
  std::function<void(const absl::Status&)> when_refused;
};

// Serves the sessions that the tracker gives it, and decides which of them have an agent. Lives on
// one thread.
class Runner final : private AgentScheduler {
 public:
  // All must outlive it, and the context must have stopped before it is destroyed.
  Runner(boost::asio::io_context& context, Timers* timers, TrackerCalls* tracker,
         RunnerSetup setup);

  void Start();
  // Ends all agents, as patiently as is configured; `done` is told when none is left.
  void Stop(std::function<void()> done);

  size_t sessions() const { return sessions_.size(); }
  size_t agents() const { return scheduler_.processes(); }

 private:
  boost::asio::awaitable<void> Serve();
  void Take(const v1::Assignment& assignment);
  void Keep(const v1::Assignment& assignment);
  boost::asio::awaitable<void> GiveUp(v1::Assignment assignment);
  // Takes the steps that are due, later: what calls this is in the middle of something.
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
  // Those that have been given to it and have done anything since.
  std::map<std::string, std::shared_ptr<SessionRunner>> sessions_;
  // What is to be done once they have ended under the lease before.
  std::map<std::string, std::vector<v1::Assignment>> later_;
  std::map<int64_t, std::weak_ptr<RunningAgent>> processes_;
  std::unique_ptr<Timers::Timer> step_timer_;
  bool stepping_ = false;
  std::function<void()> stopped_;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_RUNNER_H_
