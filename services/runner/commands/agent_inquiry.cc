#include "runner/commands/agent_inquiry.h"

#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/version.h"
#include "runner/agent/agent.h"
#include "runner/timers.h"

namespace callslip::runner {
namespace {

// Short, because the agent has begun nothing that it could lose.
constexpr absl::Duration kEndOfInput = absl::Seconds(2);

class Inquiry final : public Agent::Listener {
 public:
  std::variant<acp::Capabilities, AgentError> Run(const std::string& keeper,
                                                  AgentSettings settings) {
    boost::asio::io_context context{1};
    const std::unique_ptr<Timers> timers = TimersOf(context);
    agent_ = Agent::Start(context, timers.get(), keeper, std::move(settings), this);
    while (!end_.has_value()) context.run_one();
    agent_ = nullptr;
    if (told_.has_value()) return *std::move(told_);
    return *end_;
  }

  void OnReady() override {
    told_ = agent_->capabilities();
    agent_->Stop();
  }
  void OnEnd(const AgentError& error) override { end_ = error; }

 private:
  std::shared_ptr<Agent> agent_;
  std::optional<acp::Capabilities> told_;
  std::optional<AgentError> end_;
};

}  // namespace

std::variant<acp::Capabilities, AgentError> Inquire(const std::string& name,
                                                    const AgentConfig& agent,
                                                    const InquiryPlace& place) {
  if (agent.command.empty()) return AgentError{"command_missing", "it has no `command`"};
  // If the agent exits while this process writes to it, that is a valid result.
  std::signal(SIGPIPE, SIG_IGN);
  const Environment environment = AgentEnvironment(
      place.environment,
      {.env = agent.env, .env_from = agent.env_from, .session_id = "", .agent_id = name});
  AgentSettings settings;
  settings.name = name;
  settings.command = {.arguments = Wrapped(agent.wrapper, agent.command),
                      .environment = FormatEnvironment(environment),
                      .directory = place.directory};
  settings.auth_method = agent.auth_method;
  settings.offer = {.files = agent.fs, .terminals = agent.terminal, .version = kVersion};
  settings.patience.initialize = agent.start_timeout;
  settings.stop.end_of_input = kEndOfInput;
  return Inquiry().Run(place.keeper, std::move(settings));
}

absl::StatusOr<std::string> WhoIs(const std::string& name, const AgentConfig& agent,
                                  const InquiryPlace& place) {
  const auto told = Inquire(name, agent, place);
  if (const auto* error = std::get_if<AgentError>(&told)) {
    return absl::UnavailableError(error->message);
  }
  const Json& info = std::get<acp::Capabilities>(told).agent_info;
  std::string who = TextOf(info, "title");
  if (who.empty()) who = TextOf(info, "name");
  if (who.empty()) return "it does not say who it is";
  return absl::StrCat(who, " ", TextOf(info, "version"));
}

}  // namespace callslip::runner
