#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/log.h"
#include "common/text_scan.h"
#include "runner/agent/agent.h"

namespace callslip::runner {

// An agent process and the sessions that share it; it ends with the last session.
class RunningAgent final : public Agent::Listener,
                           public std::enable_shared_from_this<RunningAgent> {
 public:
  // Called once the agent is ready, with nullopt, or with the reason why it never was.
  using Ready = std::function<void(const std::optional<AgentError>&)>;

  static std::shared_ptr<RunningAgent> Start(boost::asio::io_context& context, Timers* timers,
                                             const std::string& keeper, AgentSettings settings) {
    auto running = std::make_shared<RunningAgent>();
    running->self_ = running;
    running->name_ = settings.name;
    running->agent_ = Agent::Start(context, timers, keeper, std::move(settings), running.get());
    return running;
  }

  // Adds the session.
  void Enter(const std::string& session, Ready ready) {
    sessions_.insert(session);
    if (end_.has_value()) return ready(end_);
    if (is_ready_) return ready(std::nullopt);
    waiting_.push_back(std::move(ready));
  }
  bool IsAlone(const std::string& session) const {
    return sessions_.size() == 1 && sessions_.contains(session);
  }
  // Removes the session; stops the agent if no session is left.
  void Leave(const std::string& session) {
    if (sessions_.erase(session) > 0 && sessions_.empty()) Stop();
  }
  void Stop() {
    if (!end_.has_value()) agent_->Stop();
  }

  // Calls `over` once nothing is left of the agent. Call only while is_over() is false.
  void WhenOver(std::function<void()> over) { over_.push_back(std::move(over)); }

  // Whether it still serves a session: then it does not end by itself.
  bool has_sessions() const { return !sessions_.empty() && !end_.has_value(); }

  Agent& agent() { return *agent_; }
  bool is_over() const { return end_.has_value(); }
  // Why it ended; nullopt while it runs.
  const std::optional<AgentError>& end() const { return end_; }

 private:
  void OnReady() override {
    is_ready_ = true;
    for (const Ready& ready : std::exchange(waiting_, {})) ready(std::nullopt);
  }
  void OnEnd(const AgentError& error) override {
    const auto self = std::exchange(self_, nullptr);
    end_ = error;
    for (const Ready& ready : std::exchange(waiting_, {})) ready(error);
    for (const auto& over : std::exchange(over_, {})) over();
  }

  void OnNoise(absl::string_view line) override {
    constexpr size_t kShown = 200;
    Log(LogLevel::kWarning, "an agent has written what is not a message",
        {{"agent", name_}, {"line", std::string(CutText(line, kShown))}});
  }

  std::string name_;
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<RunningAgent> self_;  // Set until OnEnd().
  std::set<std::string> sessions_;
  std::vector<Ready> waiting_;
  std::vector<std::function<void()>> over_;
  bool is_ready_ = false;
  std::optional<AgentError> end_;
};

}  // namespace callslip::runner
