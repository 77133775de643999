// callslip-runner: starts agents, and brings them what waits in the sessions of the tracker.
#include <unistd.h>

#include <climits>
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
#include "runner/config.h"
#include "runner/runner.h"
#include "runner/session_plans.h"
#include "runner/timers.h"
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
    options.Add("token-file", &token_file, "instead of the file's: whose first `runner` line counts");
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

int Serve(const RunnerConfig& config, const Environment& environment,
          const ShutdownSignal& shutdown) {
  const absl::StatusOr<std::string> token = OwnToken(config);
  if (!token.ok()) return Fail(token.status());
  InitLogging(kProgram, config.log_level);
  LogWhatGrpcSays();

  boost::asio::io_context context(1);
  const auto timers = TimersOf(context);
  const auto calls = std::make_shared<CallQueue>();
  calls->SetToken(*token);
  auto tracker =
      ConnectToTracker(config.tracker, calls, context.get_executor(), config.TrackerTls());
  RunnerSetup setup = SetupOf(config, {.context = &context,
                                       .environment = environment,
                                       .keeper = KeeperPath(),
                                       .host_name = HostName()});
  for (const v1::AgentOffer& agent : setup.offer.agents()) {
    if (agent.problem().empty()) continue;
    Log(LogLevel::kWarning, "an agent can't be started",
        {{"agent", agent.name()}, {"problem", agent.problem()}});
  }
  Log(LogLevel::kInfo, "starts",
      {{"runner", setup.offer.runner_id()},
       {"tracker", config.tracker.ToString()},
       {"agents", absl::StrCat(setup.offer.agents_size())},
       {"workspaces", absl::StrCat(setup.offer.workspaces_size())}});
  Runner runner(context, timers.get(), tracker.get(), std::move(setup));
  auto work = std::make_optional(boost::asio::make_work_guard(context));
  runner.Start();
  std::thread loop([&context] { context.run(); });
  NotifyServiceManager(kServiceReady);

  shutdown.Wait();
  NotifyServiceManager(kServiceStopping);
  Log(LogLevel::kInfo, "stops its agents");
  auto stopped = std::make_shared<std::promise<void>>();
  auto is_stopped = stopped->get_future();
  boost::asio::post(context, [&runner, stopped] { runner.Stop([stopped] { stopped->set_value(); }); });
  if (is_stopped.wait_for(kStopTime) != std::future_status::ready) {
    Log(LogLevel::kWarning, "some agents did not stop in time; their keepers end them");
  }
  context.stop();
  loop.join();
  calls->Stop();
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

int Main(int argc, char** argv) {
  // Agents are started with posix_spawn; gRPC is not to prepare for anything else.
  setenv("GRPC_ENABLE_FORK_SUPPORT", "0", 1);
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const ShutdownSignal shutdown;
  const Environment environment = ParseEnvironment(environ);
  Options settings;
  OptionSet options(kProgram, "starts agents for the tracker's sessions");
  options.AddCommand("check", "says what is wrong with the configuration");
  options.AddCommand("agents", "says which agents are installed");
  settings.AddTo(options);
  const OptionSet::Parsed parsed = options.ParseOrExit(argc, argv);
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
  return Serve(loaded->config, environment, shutdown);
}

}  // namespace
}  // namespace callslip::runner

int main(int argc, char** argv) { return callslip::runner::Main(argc, argv); }
