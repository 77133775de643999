#pragma once

#include <memory>
#include <string>
#include <utility>

#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/fake_clock.h"
#include "common/rpc_status.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/rpc/tracker_server.h"

namespace callslip::tracker {

// A tracker on its real listener with a fake clock, and gRPC's own client for it, which can act for
// any client because it uses the unix socket.
class TrackerServerTest : public testing::Test {
 protected:
  TrackerServerTest() : server_(&clock_, &table_) {
    address_ = *server_.Start(Address{.unix_path = folder_.path() + "/tracker.sock"}, 2);
    stub_ = v1::CommandService::NewStub(
        grpc::CreateChannel(address_.ToString(), grpc::InsecureChannelCredentials()));
  }

  ~TrackerServerTest() override {
    if (!drained_) server_.Drain(absl::ZeroDuration());
  }

  void Drain() {
    drained_ = true;
    server_.Drain(absl::Seconds(5));
  }

  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (v1::CommandService::Stub::*method)(
                                    grpc::ClientContext*, const Request&, Response*),
                                const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = ((*stub_).*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status, context);
    return response;
  }

  std::string Register(const std::string& client = "", const std::string& target = "") {
    v1::RegisterCommandRequest request;
    request.set_client_id(client);
    request.set_target(target);
    request.set_type("execute_js");
    request.set_params(R"({"script":"1"})");
    return Call(&v1::CommandService::Stub::RegisterCommand, request)->command().command_id();
  }

  absl::StatusOr<v1::GetCommandResponse> Get(const std::string& id) {
    v1::GetCommandRequest request;
    request.set_command_id(id);
    return Call(&v1::CommandService::Stub::GetCommand, request);
  }

  absl::StatusOr<v1::LeaseCommandsResponse> Lease(int max_wait_s = 0) {
    v1::LeaseCommandsRequest request;
    request.mutable_max_wait()->set_seconds(max_wait_s);
    return Call(&v1::CommandService::Stub::LeaseCommands, request);
  }

  absl::StatusOr<v1::CompleteCommandResponse> Complete(const v1::CommandLease& lease,
                                                       std::string result = "42") {
    v1::CompleteCommandRequest request;
    request.set_command_id(lease.command().command_id());
    request.set_lease_token(lease.lease_token());
    request.set_result(std::move(result));
    return Call(&v1::CommandService::Stub::CompleteCommand, request);
  }

  // Returns once the tracker holds `count` waits and polls. Each check is a call to the tracker, so
  // that this depends on its progress and not on time.
  void AwaitWaits(int64_t count) {
    while (table_.waits() != count) (void)Get("corr-0-00000000000000000000000000000000");
  }

  const TemporaryFolder folder_;
  FakeClock clock_;
  CommandTable table_{CommandDeadlines{}};
  DeadlineThread deadlines_{&clock_, &table_};
  TrackerServer server_;
  Address address_;
  std::unique_ptr<v1::CommandService::Stub> stub_;
  bool drained_ = false;
};

}  // namespace callslip::tracker
