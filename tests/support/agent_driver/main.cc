// Runs steps on one agent, for tests of the lines to agents:
//
//   agent_driver KEEPER AUTH_METHOD STEPS COMMAND...
//
// STEPS is a JSON array; each step is an array of its name and its texts:
//
//   ["new"]                    begins a session, with two MCP servers and another directory
//   ["prompt", TEXT]           a turn; a third text is the type of an image beside the text
//   ["cancel", TEXT]           a turn that is cancelled at its first update or permission question
//   ["mode", ID] ["option", ID, VALUE] ["close"]
//   ["restore"]                kills the agent, starts it again, restores the session
//
// Permissions are answered with the first option. Prints a line for each completed step: its name
// and its outcome. Returns 0 after the last step, and 1 if one fails.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "runner/agent/agent.h"

namespace callslip::runner {
namespace {

class Driver final : public Agent::Listener, public AgentSession::Listener {
 public:
  Driver(std::string keeper, AgentSettings settings, Json steps)
      : keeper_(std::move(keeper)), settings_(std::move(settings)), steps_(std::move(steps)) {}

  int Run() {
    Start();
    while (!is_over_) {
      if (context_.run_one() == 0) context_.restart();
    }
    return failed_ ? 1 : 0;
  }

 private:
  void Start() { agent_ = Agent::Start(context_, timers_.get(), keeper_, settings_, this); }

  void OnReady() override {
    if (id_.empty()) return Next();
    agent_->RestoreSession(id_, Setup(), this, Opened());
  }
  // Called for the agent and for its session.
  void OnEnd(const AgentError& error) override {
    if (session_ != nullptr && !agent_ended_) {
      agent_ended_ = true;
      return;
    }
    agent_ended_ = false;
    session_.reset();
    // Not in a callback of the ended agent.
    boost::asio::post(context_, [this, error] {
      if (is_restoring_) return Start();
      failed_ = failed_ || step_ < steps_.size();
      if (failed_) std::printf("ended %s: %s\n", error.reason.c_str(), error.message.c_str());
      is_over_ = true;
    });
  }

  void OnUpdate(AgentUpdate /*update*/) override {
    if (std::exchange(cancels_, false)) session_->Cancel();
  }
  void OnPermission(PermissionQuestion question,
                    std::function<void(PermissionChoice)> answer) override {
    if (std::exchange(cancels_, false)) return session_->Cancel();
    answer(question.options.empty() ? PermissionChoice() : question.options.front().id);
  }
  void OnPermissionOver(int64_t /*number*/) override {}
  void OnClientCall(const std::string& method, const Json& /*params*/,
                    Peer::Respond respond) override {
    if (method == "fs/read_text_file") return respond(Json{{"content", "text"}});
    respond(RpcError{.code = kMethodNotFound, .message = "there is no " + method});
  }
  void OnSilence(absl::Duration /*silent*/) override {}

  static acp::SessionSetup Setup() {
    acp::SessionSetup setup{.directory = "/tmp", .additional_directories = {"/usr"}};
    setup.mcp_servers = Json::parse(R"([
      {"name": "tool", "command": "/bin/tool", "args": ["a"], "env": [{"name": "A", "value": "b"}]},
      {"type": "http", "name": "callslip", "url": "http://127.0.0.1/mcp", "headers": []}])");
    return setup;
  }
  Agent::Opened Opened() {
    return [this](std::variant<std::shared_ptr<AgentSession>, AgentError> opened) {
      if (const auto* error = std::get_if<AgentError>(&opened)) return Fail(error->message);
      session_ = std::get<std::shared_ptr<AgentSession>>(opened);
      id_ = session_->id();
      is_restoring_ = false;
      Done("done");
    };
  }
  AgentSession::Done Answered() {
    return [this](const RpcAnswer& answer) {
      if (const auto* error = std::get_if<RpcError>(&answer)) return Fail(error->message);
      Done("done");
    };
  }

  std::string Text(size_t at) const { return steps_[step_][at]; }
  void Next() {
    if (step_ == steps_.size()) return agent_->Stop();
    const std::string what = Text(0);
    if (what == "new") return agent_->NewSession(Setup(), this, Opened());
    if (what == "mode") return session_->SetMode(Text(1), Answered());
    if (what == "option") return session_->SetConfigOption(Text(1), Text(2), Answered());
    if (what == "close") {
      session_->Close();
      session_.reset();
      return Done("done");
    }
    if (what == "restore") {
      is_restoring_ = true;
      return agent_->Kill();
    }
    cancels_ = what == "cancel";
    Json blocks = Json::array({acp::TextBlock(Text(1))});
    if (steps_[step_].size() > 2) blocks.push_back(acp::ImageBlock(Text(2), "AAAA"));
    session_->Prompt(std::move(blocks), [this](AgentSession::TurnEnd end) {
      if (const auto* error = std::get_if<AgentError>(&end)) {
        return Fail(error->message);
      }
      Done(std::get<PromptEnd>(end).stop_reason);
    });
  }
  void Done(const std::string& outcome) {
    std::printf("%s %s\n", Text(0).c_str(), outcome.c_str());
    ++step_;
    boost::asio::post(context_, [this] { Next(); });
  }
  void Fail(const std::string& message) {
    std::printf("%s failed: %s\n", Text(0).c_str(), message.c_str());
    failed_ = true;
    is_restoring_ = false;
    agent_->Kill();
  }

  const std::string keeper_;
  const AgentSettings settings_;
  const Json steps_;
  boost::asio::io_context context_;
  const std::unique_ptr<Timers> timers_ = TimersOf(context_);
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<AgentSession> session_;
  std::string id_;
  size_t step_ = 0;
  bool cancels_ = false;
  bool is_restoring_ = false;
  bool agent_ended_ = false;
  bool failed_ = false;
  bool is_over_ = false;
};

}  // namespace
}  // namespace callslip::runner

int main(int argc, char** argv) {
  using callslip::runner::Json;
  std::signal(SIGPIPE, SIG_IGN);
  Json steps = argc > 4 ? Json::parse(argv[3], nullptr, /*allow_exceptions=*/false) : Json();
  if (!steps.is_array()) {
    std::fputs("usage: agent_driver KEEPER AUTH_METHOD STEPS COMMAND...\n", stderr);
    return 2;
  }
  callslip::runner::AgentSettings settings{.name = "driven"};
  settings.command = {.arguments = {argv + 4, argv + argc},
                      .environment = {"PATH=/usr/bin:/bin"},
                      .directory = "/tmp"};
  settings.auth_method = argv[2];
  settings.offer = {.files = true, .terminals = true, .version = "1"};
  return callslip::runner::Driver(argv[1], std::move(settings), std::move(steps)).Run();
}
