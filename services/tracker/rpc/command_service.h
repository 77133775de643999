#ifndef CALLSLIP_TRACKER_RPC_COMMAND_SERVICE_H_
#define CALLSLIP_TRACKER_RPC_COMMAND_SERVICE_H_

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/clock.h"
#include "tracker/domain/command/command_table.h"
#include "tracker/rpc/async_server.h"

namespace callslip::tracker {

// CommandService over a CommandTable: converts, calls the table, converts back. The contract is in
// command_service.proto. Must outlive the server that it serves on.
class CommandService {
 public:
  CommandService(Clock* clock, CommandTable* table) : clock_(clock), table_(table) {}

  // Before the server is started.
  void AddTo(AsyncServer& server) { server.AddService(&service_); }
  // After the server was started.
  void ServeOn(AsyncServer& server);

  // From now on new commands, waits and leases are refused with `draining`; reports and reads go
  // on until the server is stopped. Ends all waits.
  void Drain();

 private:
  absl::StatusOr<v1::RegisterCommandResponse> Register(const v1::RegisterCommandRequest& request);
  absl::StatusOr<v1::GetCommandResponse> Get(const v1::GetCommandRequest& request);
  absl::StatusOr<v1::ListCommandsResponse> List(const v1::ListCommandsRequest& request);
  absl::StatusOr<v1::CancelCommandResponse> Cancel(const v1::CancelCommandRequest& request);
  absl::StatusOr<v1::AcknowledgeCommandResponse> Acknowledge(
      const v1::AcknowledgeCommandRequest& request);
  absl::StatusOr<v1::CompleteCommandResponse> Complete(const v1::CompleteCommandRequest& request);

  using LeaseReply = HeldReply<v1::LeaseCommandsResponse>;
  void Lease(const v1::LeaseCommandsRequest& request, std::shared_ptr<LeaseReply> reply);
  absl::Status TryLease(const v1::LeaseCommandsRequest& request,
                        const std::shared_ptr<LeaseReply>& reply);

  using WaitStream = LatestStream<v1::WaitForCommandResponse>;
  void Wait(const v1::WaitForCommandRequest& request, std::shared_ptr<WaitStream> stream);
  absl::Status TryWait(const v1::WaitForCommandRequest& request,
                       const std::shared_ptr<WaitStream>& stream);

  Clock* const clock_;
  CommandTable* const table_;
  v1::CommandService::AsyncService service_;
  std::atomic<bool> draining_{false};
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_COMMAND_SERVICE_H_
