#include "tracker/rpc/tracker_server.h"

#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "tracker/rpc/async_server.h"
#include "tracker/rpc/command_service.h"

namespace callslip::tracker {

struct TrackerServer::Parts {
  Parts(Clock* clock, CommandTable* table) : commands(clock, table) {}

  CommandService commands;
  AsyncServer server;
};

TrackerServer::TrackerServer(Clock* clock, CommandTable* table)
    : parts_(std::make_unique<Parts>(clock, table)) {}

TrackerServer::~TrackerServer() = default;

absl::StatusOr<Address> TrackerServer::Start(const Address& address, int pollers) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  parts_->commands.AddTo(parts_->server);
  absl::StatusOr<Address> bound = parts_->server.Start(address, pollers);
  if (bound.ok()) parts_->commands.ServeOn(parts_->server);
  return bound;
}

void TrackerServer::Drain(absl::Duration grace) {
  parts_->server.server()->GetHealthCheckService()->SetServingStatus(false);
  parts_->commands.Drain();
  parts_->server.Stop(grace);
}

}  // namespace callslip::tracker
