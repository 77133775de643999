// callslip-runner: starts agents, and brings them what waits in the sessions of the tracker.
#include <unistd.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "auth/token_file.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "common/config.h"
#include "common/grpc_log.h"
#include "common/log.h"
#include "common/service_notify.h"
#include "common/shutdown_signal.h"
#include "common/status_macros.h"
#include "rpc_client/call_queue.h"
#include "runner/commands/agent_commands.h"
#include "runner/commands/prompt.h"
#include "runner/config.h"
#include "runner/runner.h"
#include "runner/session_plans.h"
#include "runner/timers.h"
#include "runner/tracker/client_calls.h"
#include "runner/tracker/tracker_calls.h"

namespace callslip::runner {
namespace {

constexpr char kProgram[] = "callslip-runner";
// What the agents of a runner that stops have: the end of their input, SIGTERM, and then some.
constexpr std::chrono::seconds kStopTime{20};

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", kProgram, std::string(status.message()).c_str());
  return 1;
}

// What the command line says beside the file, and instead of it.
struct Options {
  std::string file;
  std::string tracker;
  std::string gateway;
  std::string token_file;
  std::string agent;
  std::string dir;

  void AddTo(OptionSet& options) {
    options.Add("runner-file", &file,
                "YAML file with agents and workspaces: see docs/runner.md. Without it there are "
                "those of --agent and --dir only");
    options.Add("tracker", &tracker, "instead of the file's: HOST:PORT or unix:PATH");
    options.Add("gateway", &gateway, "instead of the file's: http://HOST:PORT");
    options.Add("token-file", &token_file,
                "instead of the file's: whose first `runner` line counts");
    options.Add("agent", &agent, "an agent by its command, such as 'opencode acp'");
    options.Add("dir", &dir, "a workspace, for --agent and all others of the file");
  }
};

absl::StatusOr<LoadedConfig> Load(const Options& options) {
  LoadedConfig loaded;
  if (!options.file.empty()) {
    ASSIGN_OR_RETURN(loaded, ReadRunnerConfig(options.file));
  }
  RunnerConfig& config = loaded.config;
  if (!options.tracker.empty()) {
    ASSIGN_OR_RETURN(config.tracker, ParseAddress(options.tracker));
  }
  if (!options.gateway.empty()) config.gateway = options.gateway;
  if (!options.token_file.empty()) config.token_file = options.token_file;
  if (!options.agent.empty()) {
    AgentConfig agent;
    agent.command = absl::StrSplit(options.agent, ' ', absl::SkipEmpty());
    if (agent.command.empty()) return absl::InvalidArgumentError("--agent is empty");
    const std::string name = std::filesystem::path(agent.command.front()).filename();
    config.agents.insert_or_assign(name, std::move(agent));
  }
  if (!options.dir.empty() || (!options.agent.empty() && config.workspaces.empty())) {
    std::error_code error;
    const auto dir = std::filesystem::canonical(options.dir.empty() ? "." : options.dir, error);
    if (error) return absl::NotFoundError(absl::StrCat("--dir: ", error.message()));
    WorkspaceConfig workspace;
    workspace.dir = dir;
    config.workspaces.insert_or_assign("here", std::move(workspace));
  }
  return loaded;
}

// callslip-keeper, where this program is or where packages have it.
std::string KeeperPath() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const auto beside = here / "callslip-keeper";
  if (std::filesystem::exists(beside, error)) return beside;
  return here / "../libexec/callslip/callslip-keeper";
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

// By which the tracker knows this runner; empty where it needs none.
absl::StatusOr<std::string> OwnToken(const RunnerConfig& config) {
  if (config.token_file.empty()) return "";
  ASSIGN_OR_RETURN(const TokenFile file, LoadTokenFile(config.token_file));
  for (const TokenFile::Entry& entry : file.entries) {
    if (entry.principal.role == Role::kRunner && !entry.token.empty()) return entry.token;
  }
  return absl::FailedPreconditionError(
      absl::StrCat(config.token_file, ": has no line of the role runner: add `runner NAME TOKEN`"));
}

// A runner on a thread of its own.
class RunningRunner {
 public:
  RunningRunner(const RunnerConfig& config, const Environment& environment,
                const std::string& token)
      : timers_(TimersOf(context_)), calls_(std::make_shared<CallQueue>()) {
    calls_->SetToken(token);
    tracker_ =
        ConnectToTracker(config.tracker, calls_, context_.get_executor(), config.TrackerTls());
    RunnerSetup setup = SetupOf(config, {.context = &context_,
                                         .environment = environment,
                                         .keeper = KeeperPath(),
                                         .host_name = HostName()});
    LogSetup(config, setup.offer);
    runner_.emplace(context_, timers_.get(), tracker_.get(), std::move(setup));
    runner_->Start();
    thread_ = std::thread([this] { context_.run(); });
  }
  // Ends its agents, as patiently as they are to be.
  ~RunningRunner() {
    auto stopped = std::make_shared<std::promise<void>>();
    auto is_stopped = stopped->get_future();
    boost::asio::post(context_,
                      [this, stopped] { runner_->Stop([stopped] { stopped->set_value(); }); });
    if (is_stopped.wait_for(kStopTime) != std::future_status::ready) {
      Log(LogLevel::kWarning, "some agents did not stop in time; their keepers end them");
    }
    context_.stop();
    thread_.join();
    calls_->Stop();
  }

  boost::asio::io_context& context() { return context_; }
  const std::shared_ptr<CallQueue>& calls() { return calls_; }

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
  std::unique_ptr<TrackerCalls> tracker_;
  std::optional<Runner> runner_;
  std::thread thread_;
};

int Serve(const RunnerConfig& config, const Environment& environment,
          const ShutdownSignal& shutdown) {
  const absl::StatusOr<std::string> token = OwnToken(config);
  if (!token.ok()) return Fail(token.status());
  InitLogging(kProgram, config.log_level);
  LogWhatGrpcSays();
  {
    const RunningRunner runner(config, environment, *token);
    NotifyServiceManager(kServiceReady);
    shutdown.Wait();
    NotifyServiceManager(kServiceStopping);
    Log(LogLevel::kInfo, "stops its agents");
  }
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

// One message to the first agent of the command line or the file, by a runner of its own.
int Ask(RunnerConfig config, const std::string& text, const Environment& environment,
        const ShutdownSignal& shutdown) {
  if (config.agents.empty() || config.workspaces.empty()) {
    return Fail(absl::InvalidArgumentError(
        "prompt needs an agent and a folder: --agent 'opencode acp' --dir ., or a --runner-file"));
  }
  const absl::StatusOr<std::string> token = OwnToken(config);
  if (!token.ok()) return Fail(token.status());
  InitLogging(kProgram, "error");
  LogWhatGrpcSays();
  const auto& agent = *config.agents.begin();
  const auto& workspace = *config.workspaces.begin();
  // Nobody else is to run it: it ends with this.
  config.runner_id = absl::StrCat("prompt-", getpid());
  std::atomic<int> code = -1;
  {
    RunningRunner runner(config, environment, *token);
    const auto client = ConnectAsClient(config.tracker, runner.calls(),
                                        runner.context().get_executor(), config.TrackerTls());
    const auto prompt =
        std::make_shared<Prompt>(runner.context(), client.get(), stdout, stderr, STDIN_FILENO);
    boost::asio::post(runner.context(), [&] {
      prompt->Start({agent.first, workspace.second.dir, text}, [&code](int ended) {
        code = ended;
        kill(getpid(), SIGTERM);
      });
    });
    shutdown.Wait();
    if (code < 0) {
      boost::asio::post(runner.context(), [&] { prompt->Stop(); });
      shutdown.Wait();
    }
  }
  return code < 0 ? 1 : code.load();
}

int Main(int argc, char** argv) {
  // Agents are started with posix_spawn; gRPC is not to prepare for anything else.
  setenv("GRPC_ENABLE_FORK_SUPPORT", "0", 1);
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const ShutdownSignal shutdown;
  const Environment environment = ParseEnvironment(environ);
  // Its text is no option.
  std::vector<char*> arguments(argv, argv + argc);
  std::optional<std::string> prompt;
  if (argc > 2 && absl::string_view(argv[1]) == "prompt") {
    prompt = argv[2];
    arguments.erase(arguments.begin() + 1, arguments.begin() + 3);
  }
  Options settings;
  OptionSet options(kProgram, "starts agents for the tracker's sessions");
  options.AddCommand("check", "says what is wrong with the configuration");
  options.AddCommand("agents", "says which agents are installed");
  options.AddCommand("prompt", "`prompt TEXT`: asks an agent, shows what it says, and ends");
  settings.AddTo(options);
  const OptionSet::Parsed parsed =
      options.ParseOrExit(static_cast<int>(arguments.size()), arguments.data());
  if (parsed.command == "prompt") {
    return Fail(absl::InvalidArgumentError("prompt needs a text: prompt 'What is in here?' …"));
  }
  const absl::StatusOr<LoadedConfig> loaded = Load(settings);
  if (!loaded.ok()) return Fail(loaded.status());
  if (parsed.command == "check") return RunCheck(*loaded, environment, std::cout);
  for (const std::string& problem : loaded->problems) {
    std::fprintf(stderr, "%s: %s\n", kProgram, problem.c_str());
  }
  if (!loaded->problems.empty()) return 1;
  if (parsed.command == "agents") {
    return RunAgents(loaded->config, environment, nullptr, std::cout);
  }
  if (prompt.has_value()) return Ask(loaded->config, *prompt, environment, shutdown);
  return Serve(loaded->config, environment, shutdown);
}

}  // namespace
}  // namespace callslip::runner

int main(int argc, char** argv) { return callslip::runner::Main(argc, argv); }
