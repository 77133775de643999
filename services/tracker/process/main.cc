#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "auth/credentials.h"
#include "auth/token_file.h"
#include "auth/token_watch.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/file_limit.h"
#include "common/grpc_log.h"
#include "common/log.h"
#include "common/memory_release.h"
#include "common/metrics_text.h"
#include "common/mutex.h"
#include "common/service_notify.h"
#include "common/shutdown_signal.h"
#include "common/status_macros.h"
#include "common/timer_thread.h"
#include "telemetry/span_metrics.h"
#include "telemetry/telemetry.h"
#include "tls/server_tls.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/metrics/metrics_listener.h"
#include "tracker/metrics/tracker_metrics.h"
#include "tracker/process/config.h"
#include "tracker/process/inspect.h"
#include "tracker/process/move.h"
#include "tracker/process/storage.h"
#include "tracker/rpc/command_log.h"
#include "tracker/rpc/command_spans.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/server/health_check.h"

namespace callslip::tracker {
namespace {

constexpr char kProgram[] = "callslip-tracker";
// Shorter than the interval of orchestrators' health checks.
constexpr absl::Duration kHealthCheckTimeout = absl::Seconds(2);
// Retention is measured in days, so minutes do not matter.
constexpr absl::Duration kRetentionEvery = absl::Minutes(10);

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", kProgram, std::string(status.message()).c_str());
  return 1;
}

// The address at which this program reaches a running tracker: a unix socket, if there is one.
const Address& AddressForItself(const std::vector<Address>& listen) {
  for (const Address& address : listen) {
    if (address.is_unix()) return address;
  }
  return listen.front();
}

absl::Status Inspect(const TrackerConfig& config) {
  RETURN_IF_ERROR(config.ValidateForCopy(/*moves=*/false));
  if (config.storage.empty()) {
    return config.command.empty() ? InspectDataDirectory(config.data_dir, stdout)
                                  : InspectCommand(config.data_dir, config.command, stdout);
  }
  return config.command.empty() ? InspectDatabase(config.storage, stdout)
                                : InspectCommandInDatabase(config.storage, config.command, stdout);
}

absl::Status Move(const TrackerConfig& config, const ShutdownSignal& shutdown,
                  absl::Status (*move)(const MoveRequest&)) {
  RETURN_IF_ERROR(config.ValidateForCopy(/*moves=*/true));
  InitLogging(kProgram, "warning");
  return move({.data_dir = config.data_dir,
               .storage = config.storage,
               .standby = !config.storage_without_standby,
               .is_stopped = [&] { return shutdown.WaitFor(absl::ZeroDuration()); }});
}

int Exit(const absl::Status& status) { return status.ok() ? 0 : Fail(status); }

// INVALID_ARGUMENT, naming the option, if the TLS files are unusable. gRPC would report that only
// to the peers.
absl::Status CheckTls(const TrackerConfig& config) {
  const std::optional<TlsFiles> files = config.Tls();
  if (!files.has_value()) return absl::OkStatus();
  return ServerTls::Load(*files, absl::InfiniteDuration()).status();
}

// Runs `action` each time that `period` has passed.
void Repeat(TimerThread& timers, absl::Duration period, std::function<void()> action) {
  timers.After(period, [&timers, period, action = std::move(action)] {
    action();
    Repeat(timers, period, action);
  });
}

// The metrics for GET /metrics and for a collector. A tracker that stands by or is about to serve
// has only a few.
class Metrics {
 public:
  explicit Metrics(const TrackerConfig& config) : shares_(!config.storage.empty()) {}

  absl::Status Serve(const TrackerConfig& config, Telemetry& telemetry) {
    ASSIGN_OR_RETURN(exported_, telemetry.ExportMetrics([this](MetricsPage& page) { Fill(page); }));
    const std::optional<Address> address = config.MetricsAddress();
    if (!address.has_value()) return absl::OkStatus();
    ASSIGN_OR_RETURN(listener_, MetricsListener::Start(*address, config.metrics_allowed_hosts,
                                                       [this](absl::string_view accept) {
                                                         MetricsPage page;
                                                         Fill(page);
                                                         return AnswerScrape(page, accept);
                                                       }));
    std::fprintf(stderr, "metrics on http://%s/metrics\n", listener_->bound().ToString().c_str());
    return absl::OkStatus();
  }

  // Sets the source of the metrics of a serving tracker.
  void Tell(MetricExporter::Collect all) {
    MutexLock lock(&mutex_);
    all_ = std::move(all);
  }
  // The tracker no longer serves: the export ends with the metrics so far.
  void Finish() {
    exported_ = nullptr;
    Tell(nullptr);
  }

 private:
  void Fill(MetricsPage& page) {
    page.Process();
    AddSpans(page);
    MutexLock lock(&mutex_);
    if (all_ != nullptr) {
      all_(page);
    } else if (shares_) {
      AddCell({}, page);
    }
  }

  const bool shares_;
  Mutex mutex_;
  MetricExporter::Collect all_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<MetricsListener> listener_;
  MetricExporter::Collection exported_;
};

void TellAll(const TrackerConfig& config, const Storage& storage, TrackerServer& server,
             AnnotationStore& annotations, MetricsPage& page) {
  const TrackerStatistics statistics = server.Statistics();
  AddMetrics(statistics, page);
  MemoryUse use = MemoryUseOf(statistics);
  use.drawing_bytes = annotations.bytes();
  AddMemory(config.Memory(), use, page);
  const Membership* const membership = storage.membership();
  if (membership == nullptr) return;
  AddCell({.may_answer = membership->MayAnswer(),
           .epoch = membership->epoch().value_or(0),
           .has_copy = membership->has_copy()},
          page);
}

int Main(int argc, char** argv) {
  const ShutdownSignal shutdown;
  TrackerConfig config;
  OptionSet options(kProgram, "owns commands, their deadlines and the waits for them");
  options.AddCommand("healthcheck", "exits with 0 if the tracker at --listen is serving");
  options.AddCommand("inspect", "prints what --data-dir or --storage holds, and changes nothing");
  options.AddCommand("import", "copies what --data-dir holds into --storage, which is empty");
  options.AddCommand("export", "copies what --storage holds into --data-dir, which is empty");
  config.AddTo(options);
  const OptionSet::Parsed parsed = options.ParseOrExit(argc, argv);
  if (parsed.command == "healthcheck") {
    const Address& address = AddressForItself(config.listen);
    return Exit(
        CheckHealth(address, address.is_unix() ? std::nullopt : config.Tls(), kHealthCheckTimeout));
  }
  if (parsed.command == "inspect") return Exit(Inspect(config));
  if (parsed.command == "import") return Exit(Move(config, shutdown, &Import));
  if (parsed.command == "export") return Exit(Move(config, shutdown, &Export));
  if (const absl::Status valid = config.Validate(); !valid.ok()) return Fail(valid);
  if (const absl::Status fit = CheckTls(config); !fit.ok()) return Fail(fit);
  InitLogging(kProgram, config.log_level);
  LogWhatGrpcSays();
  RaiseFileLimit();

  RealClock clock;
  const auto telemetry = Telemetry::Start(&clock, kProgram, config.otlp_endpoint);
  if (!telemetry.ok()) return Fail(telemetry.status());
  Metrics metrics(config);
  if (const absl::Status served = metrics.Serve(config, **telemetry); !served.ok()) {
    return Fail(served);
  }
  // Outlives the sessions, which follow commands.
  const auto storage = Storage::Open(config, &clock, shutdown);
  if (!storage.ok()) return Fail(storage.status());
  if (*storage == nullptr) return 0;
  DurableJournal& kept = (*storage)->journal();
  const MemoryBudget budget = config.Memory();
  const auto sessions =
      SessionTable::Open((*storage)->sessions(), &clock, budget.sessions, config.Queue());
  if (!sessions.ok()) return Fail(sessions.status());
  MemoryRelease memory_release;
  TimerThread timers(&clock);
  memory_release.Look();
  Repeat(timers, MemoryRelease::kEvery, [&] { memory_release.Look(); });
  const auto apply_retention = [&] {
    (*sessions)->ApplyRetention(config.Retention(), clock.Now());
  };
  apply_retention();
  Repeat(timers, kRetentionEvery, apply_retention);
  CommandLog command_log(&clock);
  CommandTable table(config.deadlines, budget.commands, kept.journal());
  table.SetFailureListener(
      [&command_log](const CommandSnapshot& command) { command_log.Failed(command); });
  if (Spans() != nullptr) {
    table.SetEndListener([](const CommandSnapshot& command) { RecordCommand(command); });
  }
  AnnotationStore annotations(&table, budget.annotations, kept.journal());
  const absl::Status restored = kept.Restore(table, annotations);
  if (!restored.ok()) return Fail(restored);
  DeadlineThread deadline_thread(&clock, &table);
  TrackerServer server(&clock, &table, sessions->get(), (*storage)->gate(),
                       {.sessions = (*storage)->disk(), .commands = kept.storage()}, &annotations);
  server.SetFreeGate((*storage)->free_gate());
  server.SetCallMemory(budget.CallBytes());
  std::optional<TokenWatch> token_watch;
  if (!config.token_file.empty()) {
    const absl::StatusOr<TokenFile> tokens = LoadOrCreateTokenFile(config.token_file);
    if (!tokens.ok()) return Fail(tokens.status());
    const auto credentials = std::make_shared<Credentials>(tokens->entries);
    server.SetCredentials(credentials);
    token_watch.emplace(config.token_file, credentials,
                        [&server](const TokenFile&) { server.CancelRevokedCalls(); });
    Log(LogLevel::kInfo, "callers over TCP need a token", {{"token_file", config.token_file}});
  }
  if (!(*storage)->AwaitAnswers(shutdown)) return 0;
  const absl::StatusOr<std::vector<Address>> bound =
      server.Start(config.listen, config.poll_threads, config.Tls());
  if (!bound.ok()) return Fail(bound.status());
  metrics.Tell([&](MetricsPage& page) { TellAll(config, **storage, server, annotations, page); });
  const absl::Cleanup told = [&metrics] { metrics.Finish(); };
  Repeat(timers, StatisticsHistory::kEvery, [&] { server.NoteStatistics(); });
  const absl::Cleanup noted = [&timers] { timers.Stop(); };
  kept.SetStorageListener([&server](bool works) { server.SetStoring(works); });
  for (const Address& address : *bound) {
    std::fprintf(stderr, "listening on %s\n", address.ToString().c_str());
  }
  NotifyServiceManager(kServiceReady);

  shutdown.Wait();
  NotifyServiceManager(kServiceStopping);
  Log(LogLevel::kInfo, "draining");
  server.Drain(config.drain_grace);
  kept.SetStorageListener(nullptr);
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

}  // namespace
}  // namespace callslip::tracker

int main(int argc, char** argv) { return callslip::tracker::Main(argc, argv); }
