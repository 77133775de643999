#include "tracker/rpc/tracker_server.h"

#include <memory>

#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/rpc/annotation_service.h"
#include "tracker/rpc/async_server.h"
#include "tracker/rpc/command_service.h"
#include "tracker/rpc/health_service.h"
#include "tracker/rpc/worker_service.h"

namespace callslip::tracker {

struct TrackerServer::Parts {
  Parts(Clock* clock, CommandTable* table)
      : commands(clock, table, &registry),
        drawings(table),
        annotations(clock, &drawings),
        workers(clock, table, &registry, &log) {}

  WorkerRegistry registry;
  WorkerLog log;
  CommandService commands;
  // Nobody else uses it.
  AnnotationStore drawings;
  AnnotationService annotations;
  WorkerService workers;
  HealthService health{{v1::CommandService::service_full_name(),
                        v1::AnnotationService::service_full_name(),
                        v1::WorkerService::service_full_name()}};
  // Last, so that it stops before the services go.
  AsyncServer server;
};

TrackerServer::TrackerServer(Clock* clock, CommandTable* table)
    : clock_(clock), table_(table), parts_(std::make_unique<Parts>(clock, table)) {}

TrackerServer::~TrackerServer() = default;

absl::StatusOr<Address> TrackerServer::Start(const Address& address, int pollers) {
  // A synchronous service, whose one thread sleeps until somebody asks: other calls don't wake it.
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  AsyncServer& server = parts_->server;
  parts_->commands.AddTo(server);
  parts_->annotations.AddTo(server);
  parts_->workers.AddTo(server);
  parts_->health.AddTo(server);
  absl::StatusOr<Address> bound = server.Start(address, pollers);
  if (!bound.ok()) return bound;
  parts_->commands.ServeOn(server);
  parts_->annotations.ServeOn(server);
  parts_->workers.ServeOn(server);
  parts_->health.ServeOn(server);
  return bound;
}

void TrackerServer::Drain(absl::Duration grace) {
  // For answers that are under way.
  constexpr absl::Duration kLastCalls = absl::Seconds(1);
  const absl::Time until = clock_->Now() + grace;
  parts_->health.SetServing(false);
  parts_->commands.Drain();
  // What workers have begun they may still report.
  const std::shared_ptr<Sleeper> sleeper = clock_->NewSleeper();
  table_->OnNoLeases([sleeper] { sleeper->Wake(); });
  sleeper->SleepUntil(until);
  table_->OnNoLeases(nullptr);
  parts_->health.EndWatches();
  parts_->server.Stop(kLastCalls);
}

}  // namespace callslip::tracker
