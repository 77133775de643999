#include "tracker/rpc/tracker_server.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/status_macros.h"
#include "common/timer_thread.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/rpc/admin_service.h"
#include "tracker/rpc/annotation_service.h"
#include "tracker/rpc/command_service.h"
#include "tracker/rpc/queue_service.h"
#include "tracker/rpc/runner_service.h"
#include "tracker/rpc/session_service.h"
#include "tracker/rpc/worker_service.h"
#include "tracker/server/async_server.h"
#include "tracker/server/authenticator.h"
#include "tracker/server/health_service.h"

namespace callslip::tracker {
namespace {

std::vector<std::string> ServiceNames(bool with_sessions) {
  std::vector<std::string> names = {CommandService::kName, AnnotationService::kName,
                                    WorkerService::kName};
  if (with_sessions) {
    names.emplace_back(SessionService::kName);
    names.emplace_back(QueueService::kName);
    names.emplace_back(RunnerService::kName);
  }
  names.emplace_back(AdminService::kName);
  return names;
}

Authenticator::OwnerOf OwnerOf(CommandTable* commands, SessionTable* sessions) {
  return [commands, sessions](const std::string& id) -> std::string {
    if (const auto command = commands->Get(ClientScope::All(), id, /*peek=*/true); command.ok()) {
      return std::string((*command)->spec->client_id());
    }
    if (sessions == nullptr) return "";
    const absl::StatusOr<SessionMetadata> session = sessions->Get(id);
    return session.ok() ? ClientScope(session->owner).client_id() : "";
  };
}

// The parts that serve sessions.
struct SessionParts {
  SessionParts(Clock* clock, CommandTable* commands, SessionTable* table, OutputGate* gate)
      : timers(std::make_shared<TimerThread>(clock)),
        caller(table, timers),
        runners(clock, &caller, timers),
        sessions(clock, commands, &caller, timers, gate, &runners),
        queues(&caller, &runners) {}
  ~SessionParts() {
    // Stops everything that could still call the services.
    runners.Stop();
    timers->Stop();
    caller.AwaitCalls();
  }

  const std::shared_ptr<TimerThread> timers;
  SessionCaller caller;
  RunnerService runners;
  SessionService sessions;
  QueueService queues;
};

}  // namespace

struct TrackerServer::Parts {
  Parts(Clock* clock, CommandTable* table, SessionTable* session_table, OutputGate* gate,
        const MeasuredStorage& storage, AnnotationStore* annotation_store)
      : commands(clock, table, &registry, &log),
        own_annotations(table),
        annotations(clock, annotation_store != nullptr ? annotation_store : &own_annotations),
        workers(clock, table, &registry, &log),
        health(ServiceNames(session_table != nullptr)),
        statistics({.clock = clock,
                    .commands = table,
                    .workers = &registry,
                    .sessions = session_table,
                    .worker_log = &log,
                    .runners = [this] { return Runners(); },
                    .storage = storage,
                    .admission = [this] { return Admission(); }}),
        admin(clock, &statistics),
        owner_of(OwnerOf(table, session_table)),
        clock_(clock),
        server(clock) {
    SetCredentials(nullptr);
    if (session_table != nullptr) sessions.emplace(clock, table, session_table, gate);
    server.SetGate(gate);
  }

  RunnerCounts Runners() {
    return sessions.has_value() ? sessions->runners.Count() : RunnerCounts{};
  }

  AdmissionStatistics Admission() {
    AdmissionStatistics admission{.rpcs = server.Statistics()};
    for (int i = 0; i < kRefusalCount; ++i) {
      const auto refusal = static_cast<Refusal>(i);
      admission.refused.push_back(
          {std::string(RefusalName(refusal)), authenticator->refused(refusal)});
    }
    return admission;
  }

  void SetCredentials(std::shared_ptr<const Credentials> credentials) {
    authenticator.emplace(clock_, std::move(credentials), owner_of);
    server.SetAuthenticator(&*authenticator);
  }

  WorkerRegistry registry;
  WorkerLog log;
  CommandService commands;
  AnnotationStore own_annotations;  // Used if the server was given none.
  AnnotationService annotations;
  WorkerService workers;
  std::optional<SessionParts> sessions;
  HealthService health;
  std::atomic<bool> draining{false};
  TrackerStatisticsSource statistics;
  AdminService admin;
  const Authenticator::OwnerOf owner_of;
  Clock* const clock_;
  std::optional<Authenticator> authenticator;
  // Last, so that it stops before the services are destroyed.
  AsyncServer server;
};

TrackerServer::TrackerServer(Clock* clock, CommandTable* table, SessionTable* sessions,
                             OutputGate* gate, const MeasuredStorage& storage,
                             AnnotationStore* annotations)
    : clock_(clock),
      table_(table),
      parts_(std::make_unique<Parts>(clock, table, sessions, gate, storage, annotations)) {}

TrackerServer::~TrackerServer() = default;

void TrackerServer::SetFreeGate(OutputGate* gate) { parts_->server.SetFreeGate(gate); }

void TrackerServer::SetCallMemory(int64_t bytes) { parts_->server.SetCallMemory(bytes); }

void TrackerServer::SetCredentials(std::shared_ptr<const Credentials> credentials) {
  parts_->SetCredentials(std::move(credentials));
}

void TrackerServer::CancelRevokedCalls() { parts_->server.CancelRevokedCalls(); }

absl::StatusOr<Address> TrackerServer::Start(const Address& address, int pollers) {
  ASSIGN_OR_RETURN(const std::vector<Address> bound, Start(std::vector{address}, pollers));
  return bound.front();
}

absl::StatusOr<std::vector<Address>> TrackerServer::Start(const std::vector<Address>& addresses,
                                                          int pollers,
                                                          const std::optional<TlsFiles>& tls) {
  // A synchronous service, whose one thread sleeps until a request arrives: other calls do not wake
  // it.
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  AsyncServer& server = parts_->server;
  std::optional<SessionParts>& sessions = parts_->sessions;
  for (const std::string& name : ServiceNames(sessions.has_value())) server.AddService(name);
  server.AddService(HealthService::kName);
  absl::StatusOr<std::vector<Address>> bound = server.Start(addresses, pollers, Keepalive(), tls);
  if (!bound.ok()) return bound;
  parts_->commands.ServeOn(server);
  parts_->annotations.ServeOn(server);
  parts_->workers.ServeOn(server);
  if (sessions.has_value()) {
    sessions->sessions.ServeOn(server);
    sessions->queues.ServeOn(server);
    sessions->runners.ServeOn(server);
  }
  parts_->admin.ServeOn(server);
  parts_->health.ServeOn(server);
  return bound;
}

void TrackerServer::SetStoring(bool storing) {
  parts_->health.SetServing(storing && !parts_->draining);
  parts_->statistics.SetStoring(storing);
}

void TrackerServer::Drain(absl::Duration grace) {
  // For answers in progress.
  constexpr absl::Duration kLastCalls = absl::Seconds(1);
  const absl::Time until = clock_->Now() + grace;
  parts_->draining = true;
  parts_->health.SetServing(false);
  parts_->statistics.SetDraining();
  parts_->commands.Drain();
  if (parts_->sessions.has_value()) {
    parts_->sessions->runners.Drain();
    parts_->sessions->caller.EndCalls(Draining());
  }
  // Workers can still report the commands that they hold.
  const std::shared_ptr<Sleeper> sleeper = clock_->NewSleeper();
  table_->OnNoLeases([sleeper] { sleeper->Wake(); });
  sleeper->SleepUntil(until);
  table_->OnNoLeases(nullptr);
  parts_->health.EndWatches();
  parts_->server.Stop(kLastCalls);
  if (parts_->sessions.has_value()) parts_->sessions->sessions.SettleCommands();
}

TrackerStatistics TrackerServer::Statistics() { return parts_->statistics.Read(); }

void TrackerServer::NoteStatistics() { parts_->statistics.Note(); }

}  // namespace callslip::tracker
