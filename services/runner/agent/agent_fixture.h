#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "gtest/gtest.h"
#include "runner/agent/agent.h"
#include "runner/fake_timers.h"

namespace callslip::runner {

// Records the calls to a session's listener.
class Told final : public AgentSession::Listener {
 public:
  void OnUpdate(AgentUpdate update) override {
    if (const auto* piece = std::get_if<MessagePiece>(&update)) {
      said.push_back(piece->content.value("text", ""));
    }
    updates.push_back(std::move(update));
  }
  void OnPermission(PermissionQuestion question,
                    std::function<void(PermissionChoice)> answer) override {
    questions.emplace_back(std::move(question), std::move(answer));
  }
  void OnPermissionOver(int64_t number) override { over.push_back(number); }
  void OnClientCall(const std::string& method, const Json& params, Peer::Respond respond) override {
    calls.push_back(method);
    respond(Json{{"seen", params}});
  }
  void OnSilence(absl::Duration silent) override { silences.push_back(silent); }
  void OnEnd(const AgentError& error) override { ends.push_back(error.reason); }

  std::vector<std::string> said;
  std::vector<AgentUpdate> updates;
  std::vector<std::pair<PermissionQuestion, std::function<void(PermissionChoice)>>> questions;
  std::vector<int64_t> over;  // Question numbers.
  std::vector<std::string> calls;
  std::vector<absl::Duration> silences;
  std::vector<std::string> ends;
};

// Runs the scripted agent (tests/support/scripted_agent). Time stands still unless a test advances
// it.
class AgentFixture : public testing::Test, public Agent::Listener {
 protected:
  AgentFixture() { std::signal(SIGPIPE, SIG_IGN); }
  ~AgentFixture() override {
    if (agent_ == nullptr || end_.has_value()) return;
    agent_->Stop();
    RunUntil([this] { return end_.has_value(); });
  }

  void OnReady() override { ready_ = true; }
  void OnEnd(const AgentError& error) override { end_ = error; }
  void OnNoise(absl::string_view /*line*/) override { ++noises_; }

  template <typename Done>
  void RunUntil(Done done) {
    while (!done()) context_.run_one();
  }
  // Also advances the time.
  template <typename Done>
  void PassUntil(Done done) {
    while (!done()) {
      if (context_.poll() == 0) context_.run_one_for(std::chrono::milliseconds(1));
      timers_.Advance(absl::Milliseconds(10));
    }
  }

  void Begin(const std::string& options = "{}", const std::string& auth_method = "") {
    end_.reset();
    ready_ = false;
    AgentSettings settings{.name = "scripted",
                           .command = {.arguments = {CALLSLIP_SCRIPTED_AGENT, options},
                                       .environment = {"PATH=/usr/bin:/bin", "ONLY=this"},
                                       .directory = "/tmp"},
                           .auth_method = auth_method,
                           .login = "callslip-runner login scripted"};
    settings.patience.turn_idle = turn_idle_;
    settings.patience.pipe_end = pipe_end_;
    agent_ = Agent::Start(context_, &timers_, CALLSLIP_KEEPER_BINARY, std::move(settings), this);
  }
  void Start(const std::string& options = "{}") {
    Begin(options);
    RunUntil([this] { return ready_ || end_.has_value(); });
    ASSERT_TRUE(ready_) << end_->message;
  }
  Agent::Opened Take() {
    return [this](std::variant<std::shared_ptr<AgentSession>, AgentError> opened) {
      if (auto* error = std::get_if<AgentError>(&opened)) {
        refused_ = *error;
      } else {
        session_ = std::get<std::shared_ptr<AgentSession>>(opened);
      }
    };
  }
  void Open() {
    session_.reset();
    refused_.reset();
    agent_->NewSession({.directory = "/tmp"}, &told_, Take());
    RunUntil([this] { return session_ != nullptr || refused_.has_value(); });
    ASSERT_NE(session_, nullptr) << refused_->message;
  }
  void Restore(const std::string& id) {
    session_.reset();
    refused_.reset();
    agent_->RestoreSession(id, {.directory = "/tmp"}, &told_, Take());
    PassUntil([this] { return session_ != nullptr || refused_.has_value(); });
  }
  void Prompt(const std::string& text) {
    turn_.reset();
    session_->Prompt(Json::array({acp::TextBlock(text)}),
                     [this](AgentSession::TurnEnd end) { turn_ = std::move(end); });
  }
  // Returns the stop reason, or the reason of the error.
  std::string Turn(const std::string& text) {
    Prompt(text);
    PassUntil([this] { return turn_.has_value(); });
    return Outcome();
  }
  std::string Outcome() const {
    if (const auto* end = std::get_if<PromptEnd>(&*turn_)) return end->stop_reason;
    return std::get<AgentError>(*turn_).reason;
  }

  boost::asio::io_context context_;
  // Keeps the context running while there is no agent.
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(context_);
  FakeTimers timers_;
  Told told_;
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<AgentSession> session_;
  absl::Duration turn_idle_ = absl::InfiniteDuration();
  // Longer than a process takes to exit, however far the time is advanced.
  absl::Duration pipe_end_ = absl::Hours(100);
  bool ready_ = false;
  int noises_ = 0;
  std::optional<AgentError> end_;
  std::optional<AgentError> refused_;
  std::optional<AgentSession::TurnEnd> turn_;
};

}  // namespace callslip::runner
