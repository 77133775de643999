// callslip-runner: runs agents, and passes them the messages of the tracker's sessions.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "common/clock.h"
#include "common/config.h"
#include "common/grpc_log.h"
#include "common/log.h"
#include "common/random.h"
#include "common/service_notify.h"
#include "common/shutdown_signal.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/tracker_calls.h"
#include "runner/agent/children.h"
#include "runner/commands/agent_commands.h"
#include "runner/commands/agent_inquiry.h"
#include "runner/commands/login.h"
#include "runner/commands/prompt.h"
#include "runner/commands/prompt_place.h"
#include "runner/config.h"
#include "runner/config_check.h"
#include "runner/options.h"
#include "runner/plan_from_config.h"
#include "runner/runner.h"
#include "runner/timers.h"
#include "runner/tracker/health_check.h"
#include "telemetry/span_metrics.h"
#include "telemetry/telemetry.h"

namespace callslip::runner {
namespace {

constexpr char kProgram[] = "callslip-runner";
// Covers the stop sequence of agents (end of input, SIGTERM) plus a margin.
constexpr std::chrono::seconds kStopTime{20};
// How long the tracker can take to register the runner of a prompt.
constexpr std::chrono::seconds kServingTime{10};
// After this time the user is told what a prompt waits for.
constexpr std::chrono::seconds kSilence{1};
// Shorter than the interval at which orchestrators repeat health checks.
constexpr absl::Duration kHealthCheckTimeout = absl::Seconds(2);

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", kProgram, std::string(status.message()).c_str());
  return 1;
}

// A runner on its own thread.
class RunningRunner {
 public:
  // `change` adjusts the setup derived from the configuration.
  RunningRunner(const RunnerConfig& config, const std::string& agent_options,
                const Environment& environment, const std::string& token,
                const std::function<void(RunnerSetup&)>& change = nullptr)
      : timers_(TimersOf(context_)), calls_(std::make_shared<CallQueue>()) {
    calls_->SetToken(token);
    tracker_ = ConnectCalls({config.tracker}, calls_, context_.get_executor(), config.TrackerTls());
    RunnerSetup setup = SetupOf(config, {.context = &context_,
                                         .environment = environment,
                                         .keeper = KeeperPath(),
                                         .host_name = HostName(),
                                         .agent_options = agent_options});
    if (change != nullptr) change(setup);
    LogSetup(config, setup.offer);
    runner_.emplace(context_, timers_.get(), tracker_.get(), std::move(setup));
    runner_->Start();
    thread_ = std::thread([this] { context_.run(); });
  }
  // Ends its agents, within their stop timeouts.
  ~RunningRunner() {
    auto stopped = std::make_shared<std::promise<void>>();
    auto is_stopped = stopped->get_future();
    boost::asio::post(context_,
                      [this, stopped] { runner_->Stop([stopped] { stopped->set_value(); }); });
    if (is_stopped.wait_for(kStopTime) != std::future_status::ready) {
      Log(LogLevel::kWarning, "some agents did not stop in time: they are killed");
    }
    context_.stop();
    thread_.join();
    Children::OfThisProcess().KillAll();
    calls_->Stop();
    if (others_calls_ != nullptr) others_calls_->Stop();
  }

  boost::asio::io_context& context() { return context_; }
  // A queue for calls of another client on the runner's thread, which ends with the runner. Call at
  // most once.
  std::shared_ptr<CallQueue> CallsWith(const std::string& token) {
    others_calls_ = std::make_shared<CallQueue>();
    others_calls_->SetToken(token);
    return others_calls_;
  }

 private:
  static void LogSetup(const RunnerConfig& config, const v1::ServeRequest& offer) {
    for (const v1::AgentOffer& agent : offer.agents()) {
      if (agent.problem().empty()) continue;
      Log(LogLevel::kWarning, "an agent can't be started",
          {{"agent", agent.name()}, {"problem", agent.problem()}});
    }
    Log(LogLevel::kInfo, "starts",
        {{"runner", offer.runner_id()},
         {"tracker", config.tracker.ToString()},
         {"agents", absl::StrCat(offer.agents_size())},
         {"workspaces", absl::StrCat(offer.workspaces_size())}});
  }

  boost::asio::io_context context_{1};
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      boost::asio::make_work_guard(context_)};
  const std::unique_ptr<Timers> timers_;
  const std::shared_ptr<CallQueue> calls_;
  std::shared_ptr<CallQueue> others_calls_;
  std::unique_ptr<TrackerCalls> tracker_;
  std::optional<Runner> runner_;
  std::thread thread_;
};

int Serve(const RunnerConfig& config, const Options& settings, const Environment& environment,
          const ShutdownSignal& shutdown) {
  const absl::StatusOr<std::string> token = TokenFor(Role::kRunner, config);
  if (!token.ok()) return Fail(token.status());
  InitLogging(kProgram, config.log_level);
  LogWhatGrpcSays();
  RealClock clock;
  const auto telemetry = Telemetry::Start(&clock, kProgram, settings.otlp_endpoint);
  if (!telemetry.ok()) return Fail(telemetry.status());
  // The runner has no listener for metrics scrapers.
  const auto exported = (*telemetry)->ExportMetrics([](MetricsPage& page) {
    page.Process();
    AddSpans(page);
  });
  if (!exported.ok()) return Fail(exported.status());
  {
    const RunningRunner runner(config, AgentOptions(settings), environment, *token);
    NotifyServiceManager(kServiceReady);
    shutdown.Wait();
    NotifyServiceManager(kServiceStopping);
    Log(LogLevel::kInfo, "stops its agents");
  }
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

// Checks that the tracker has a runner of this name, which can be another process.
int CheckHealth(const RunnerConfig& config) {
  const absl::StatusOr<std::string> token = TokenFor(Role::kRunner, config);
  if (!token.ok()) return Fail(token.status());
  const absl::Status serves =
      CheckServes(config, RunnerIdOf(config, HostName()), *token, kHealthCheckTimeout);
  return serves.ok() ? 0 : Fail(serves);
}

// Sends one message to an agent of the command line or the file, with a temporary runner.
int Ask(const LoadedConfig& loaded, const std::string& agent_options, const std::string& text,
        const Environment& environment, const ShutdownSignal& shutdown) {
  const absl::StatusOr<PromptPlace> place = PlaceOfPrompt(loaded, environment);
  if (!place.ok()) return Fail(place.status());
  RunnerConfig config = loaded.config;
  const absl::StatusOr<std::string> token = TokenFor(Role::kRunner, config);
  if (!token.ok()) return Fail(token.status());
  const absl::StatusOr<std::string> asker = TokenFor(Role::kClient, config);
  if (!asker.ok()) return Fail(asker.status());
  InitLogging(kProgram, "error");
  LogWhatGrpcSays();
  const std::string session_id = absl::StrCat("prompt-", RandomHex128());
  // The session ends with this, and so does its runner, which therefore has a unique name.
  config.runner_id = session_id;
  std::atomic<int> code = -1;
  const auto end = [&code](int ended) {
    code = ended;
    kill(getpid(), SIGTERM);
  };
  std::unique_ptr<TrackerCalls> client;
  {
    // Used on the runner's thread. The session is created once the runner serves, so that no other
    // runner gets it.
    std::optional<absl::Status> served;
    std::function<void()> begin;
    std::shared_ptr<Prompt> prompt;
    const auto go_on = [&] {
      if (begin == nullptr || !served.has_value()) return;
      const std::function<void()> ask = std::exchange(begin, nullptr);
      if (served->ok()) return ask();
      std::fprintf(stderr, "no session: %s\n", std::string(served->message()).c_str());
      end(1);
    };
    RunningRunner runner(config, agent_options, environment, *token, [&](RunnerSetup& setup) {
      setup.offer.set_only_session_id(session_id);
      setup.when_given = [&prompt](int64_t lease) {
        if (prompt != nullptr) prompt->Given(lease);
      };
      setup.when_serving = [&] {
        served = absl::OkStatus();
        go_on();
      };
      setup.when_refused = [&](const absl::Status& why) {
        if (!served.has_value()) {
          served = why.ok() ? absl::UnavailableError("the tracker has ended the call") : why;
        }
        go_on();
      };
    });
    client = ConnectCalls({config.tracker}, runner.CallsWith(*asker),
                          runner.context().get_executor(), config.TrackerTls());
    // No session is assigned before `prompt` asks.
    prompt = std::make_shared<Prompt>(runner.context(), client.get(), stdout, stderr, STDIN_FILENO);
    boost::asio::steady_timer patience(runner.context(), kServingTime);
    boost::asio::steady_timer notice(runner.context(), kSilence);
    boost::asio::post(runner.context(), [&] {
      notice.async_wait([&](const boost::system::error_code& error) {
        if (error || served.has_value()) return;
        std::fprintf(stderr, "waits for the tracker at %s\n", config.tracker.ToString().c_str());
      });
      begin = [&] { prompt->Start({session_id, place->agent, place->directory, text}, end); };
      patience.async_wait([&](const boost::system::error_code& error) {
        if (error) return;
        if (!served.has_value()) {
          served = absl::DeadlineExceededError(
              absl::StrCat("the tracker at ", config.tracker.ToString(), " does not answer"));
        }
        go_on();
      });
      go_on();
    });
    shutdown.Wait();
    if (code < 0) {
      boost::asio::post(runner.context(), [&] {
        if (std::exchange(begin, nullptr) != nullptr) return end(130);
        prompt->Stop();
      });
      shutdown.Wait();
    }
    // Nothing new starts after this point.
    std::promise<void> is_over;
    boost::asio::post(runner.context(), [&] {
      begin = nullptr;
      prompt = nullptr;
      patience.cancel();
      notice.cancel();
      is_over.set_value();
    });
    is_over.get_future().wait();
  }
  return code < 0 ? 1 : code.load();
}

int Main(int argc, char** argv) {
  // Agents are started with posix_spawn, so gRPC needs no fork support.
  setenv("GRPC_ENABLE_FORK_SUPPORT", "0", 1);
  // A closed descriptor would be reused for another file.
  if (fcntl(STDIN_FILENO, F_GETFD) < 0) (void)open("/dev/null", O_RDONLY);
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  Options settings;
  OptionSet options(kProgram, "starts agents for the tracker's sessions");
  options.AddCommand("check", "says what is wrong with the configuration");
  options.AddCommand("agents", "starts each agent, and says which are installed and answer");
  options.AddCommand("healthcheck", "exits with 0 if the tracker has this runner");
  options.AddCommand("prompt", "asks an agent, shows what it says, and ends", {"TEXT"});
  options.AddCommand("login", "logs in to an agent that wants that, on this terminal",
                     {"AGENT", "[METHOD]"});
  settings.AddTo(options);
  const OptionSet::Parsed parsed = options.ParseOrExit(argc, argv);
  // The terminal's signals end these commands in the default way.
  std::optional<ShutdownSignal> shutdown;
  if (parsed.command != "login" && parsed.command != "agents") shutdown.emplace();
  const Environment environment = ParseEnvironment(environ);
  const absl::StatusOr<LoadedConfig> loaded = LoadConfig(settings);
  if (!loaded.ok()) return Fail(loaded.status());
  if (parsed.command == "check") return RunCheck(*loaded, environment, KeeperPath(), std::cout);
  for (const std::string& problem : loaded->problems) {
    std::fprintf(stderr, "%s: %s\n", kProgram, problem.c_str());
  }
  const std::vector<ConfigProblem> refusals = Refusals(loaded->config);
  for (const ConfigProblem& refusal : refusals) {
    std::fprintf(stderr, "%s: %s%s%s\n", kProgram, refusal.name.c_str(),
                 refusal.name.empty() ? "" : ": ", refusal.text.c_str());
  }
  if (!loaded->problems.empty() || !refusals.empty()) return 1;
  if (parsed.command == "healthcheck") return CheckHealth(loaded->config);
  const auto home = environment.find("HOME");
  const InquiryPlace place = {.environment = environment,
                              .directory = home == environment.end() ? "/" : home->second,
                              .keeper = KeeperPath()};
  if (parsed.command == "agents") {
    const AgentProbe probe = [&](const std::string& name, const AgentConfig& agent) {
      return WhoIs(name, agent, place);
    };
    return RunAgents(loaded->config, environment, probe, std::cout);
  }
  if (parsed.command == "login") {
    std::vector<std::string> named = parsed.arguments;
    named.resize(2);
    const LoginRequest request = {.agent = named[0], .method = named[1], .place = place};
    return RunLogin(loaded->config, request, std::cout);
  }
  if (parsed.command == "prompt") {
    const std::string& text = parsed.arguments.front();
    return Ask(*loaded, AgentOptions(settings), text, environment, *shutdown);
  }
  return Serve(loaded->config, settings, environment, *shutdown);
}

}  // namespace
}  // namespace callslip::runner

int main(int argc, char** argv) { return callslip::runner::Main(argc, argv); }
