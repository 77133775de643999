#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/credentials.h"
#include "auth/token_file.h"
#include "auth/token_watch.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/file_limit.h"
#include "common/grpc_log.h"
#include "common/log.h"
#include "common/memory_release.h"
#include "common/metrics.h"
#include "common/service_notify.h"
#include "common/shutdown_signal.h"
#include "common/status_macros.h"
#include "common/timer_thread.h"
#include "tls/server_tls.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/metrics/metrics_listener.h"
#include "tracker/metrics/tracker_metrics.h"
#include "tracker/process/config.h"
#include "tracker/process/data_directory.h"
#include "tracker/process/durable_journal.h"
#include "tracker/process/inspect.h"
#include "tracker/rpc/command_log.h"
#include "tracker/rpc/health_check.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/measured_disk.h"

namespace callslip::tracker {
namespace {

constexpr char kProgram[] = "callslip-tracker";
// Below the interval at which orchestrators repeat their health checks.
constexpr absl::Duration kHealthCheckTimeout = absl::Seconds(2);
// Of what sessions keep: nobody counts the minutes of what is kept for days.
constexpr absl::Duration kRetentionEvery = absl::Minutes(10);

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", kProgram, std::string(status.message()).c_str());
  return 1;
}

// Where this process may ask another one of its kind: over a unix socket, if there is one.
const Address& AddressForItself(const std::vector<Address>& listen) {
  for (const Address& address : listen) {
    if (address.is_unix()) return address;
  }
  return listen.front();
}

int Inspect(const std::string& data_dir) {
  if (data_dir.empty()) return Fail(absl::InvalidArgumentError("inspect needs --data-dir"));
  const absl::Status shown = InspectDataDirectory(data_dir, stdout);
  return shown.ok() ? 0 : Fail(shown);
}

// INVALID_ARGUMENT, which names the option, where the files of TLS are of no use now. gRPC would
// say so to nobody but the peers.
absl::Status CheckTls(const TrackerConfig& config) {
  const std::optional<TlsFiles> files = config.Tls();
  if (!files.has_value()) return absl::OkStatus();
  return ServerTls::Load(*files, absl::InfiniteDuration()).status();
}

// Now and again and again.
void ApplyRetention(Clock& clock, TimerThread& timers, SessionTable& sessions,
                    const SessionRetention& retention) {
  sessions.ApplyRetention(retention, clock.Now());
  timers.After(kRetentionEvery, [&clock, &timers, &sessions, retention] {
    ApplyRetention(clock, timers, sessions, retention);
  });
}

// The same.
void ReleaseMemory(TimerThread& timers, MemoryRelease& memory) {
  memory.Look();
  timers.After(MemoryRelease::kEvery, [&timers, &memory] { ReleaseMemory(timers, memory); });
}

// Null where they are not to be served. Must be gone before the server is.
absl::StatusOr<std::unique_ptr<MetricsListener>> ServeMetrics(const TrackerConfig& config,
                                                              TrackerServer& server,
                                                              AnnotationStore& annotations) {
  const std::optional<Address> address = config.MetricsAddress();
  if (!address.has_value()) return nullptr;
  ASSIGN_OR_RETURN(auto listener, MetricsListener::Start(
                                      *address, config.metrics_allowed_hosts,
                                      [&server, &annotations, budget = config.Memory()] {
                                        MetricsPage page;
                                        page.Process();
                                        const TrackerStatistics statistics = server.Statistics();
                                        AddMetrics(statistics, page);
                                        MemoryUse use = MemoryUseOf(statistics);
                                        use.drawing_bytes = annotations.bytes();
                                        AddMemory(budget, use, page);
                                        return page.Text();
                                      }));
  std::fprintf(stderr, "metrics on http://%s/metrics\n", listener->bound().ToString().c_str());
  return listener;
}

int Main(int argc, char** argv) {
  const ShutdownSignal shutdown;
  TrackerConfig config;
  OptionSet options(kProgram, "owns commands, their deadlines and the waits for them");
  options.AddCommand("healthcheck", "exits with 0 if the tracker at --listen is serving");
  options.AddCommand("inspect", "prints what --data-dir holds, and changes nothing");
  config.AddTo(options);
  const OptionSet::Parsed parsed = options.ParseOrExit(argc, argv);
  if (parsed.command == "healthcheck") {
    const Address& address = AddressForItself(config.listen);
    const absl::Status healthy =
        CheckHealth(address, address.is_unix() ? std::nullopt : config.Tls(), kHealthCheckTimeout);
    return healthy.ok() ? 0 : Fail(healthy);
  }
  if (parsed.command == "inspect") return Inspect(config.data_dir);
  if (const absl::Status valid = config.Validate(); !valid.ok()) return Fail(valid);
  if (const absl::Status fit = CheckTls(config); !fit.ok()) return Fail(fit);
  InitLogging(kProgram, config.log_level);
  LogWhatGrpcSays();
  RaiseFileLimit();

  const absl::StatusOr<DataDirectory> data = DataDirectory::Open(config.data_dir);
  if (!data.ok()) return Fail(data.status());
  if (data->is_temporary()) {
    Log(LogLevel::kWarning,
        "commands, drawings and sessions end with this process, without --data-dir",
        {{"directory", data->path()}});
  }
  RealClock clock;
  MeasuredDisk disk(&clock);
  const auto storage = FileSessionStorage::Open(data->path(), &disk);
  if (!storage.ok()) return Fail(storage.status());
  // Outlives the sessions, which follow commands.
  const auto kept = DurableJournal::Open(config, data->path(), &clock);
  if (!kept.ok()) return Fail(kept.status());
  const MemoryBudget budget = config.Memory();
  const auto sessions = SessionTable::Open(storage->get(), &clock, budget.sessions, config.Queue());
  if (!sessions.ok()) return Fail(sessions.status());
  MemoryRelease memory_release;
  TimerThread timers(&clock);
  ReleaseMemory(timers, memory_release);
  ApplyRetention(clock, timers, **sessions, config.Retention());
  CommandLog command_log(&clock);
  CommandTable table(config.deadlines, budget.commands, (*kept)->journal());
  table.SetFailureListener(
      [&command_log](const CommandSnapshot& command) { command_log.Failed(command); });
  AnnotationStore annotations(&table, budget.annotations, (*kept)->journal());
  const absl::Status restored = (*kept)->Restore(table, annotations);
  if (!restored.ok()) return Fail(restored);
  DeadlineThread deadline_thread(&clock, &table);
  TrackerServer server(&clock, &table, sessions->get(), (*kept)->gate(),
                       {.sessions = &disk, .commands = (*kept)->storage()}, &annotations);
  std::optional<TokenWatch> token_watch;
  if (!config.token_file.empty()) {
    const absl::StatusOr<TokenFile> tokens = LoadOrCreateTokenFile(config.token_file);
    if (!tokens.ok()) return Fail(tokens.status());
    const auto credentials = std::make_shared<Credentials>(tokens->entries);
    server.SetCredentials(credentials);
    token_watch.emplace(config.token_file, credentials,
                        [&server](const TokenFile&) { server.EndWithdrawn(); });
    Log(LogLevel::kInfo, "callers over TCP need a token", {{"token_file", config.token_file}});
  }
  const absl::StatusOr<std::vector<Address>> bound =
      server.Start(config.listen, config.poll_threads, config.Tls());
  if (!bound.ok()) return Fail(bound.status());
  const auto metrics = ServeMetrics(config, server, annotations);
  if (!metrics.ok()) return Fail(metrics.status());
  (*kept)->SetStorageListener([&server](bool works) { server.SetStoring(works); });
  for (const Address& address : *bound) {
    std::fprintf(stderr, "listening on %s\n", address.ToString().c_str());
  }
  NotifyServiceManager(kServiceReady);

  shutdown.Wait();
  NotifyServiceManager(kServiceStopping);
  Log(LogLevel::kInfo, "draining");
  server.Drain(config.drain_grace);
  (*kept)->SetStorageListener(nullptr);
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

}  // namespace
}  // namespace callslip::tracker

int main(int argc, char** argv) { return callslip::tracker::Main(argc, argv); }
