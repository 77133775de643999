#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/worker/worker_log.h"
#include "tracker/domain/worker/worker_registry.h"
#include "tracker/rpc/command_log.h"
#include "tracker/rpc/watch_stream.h"
#include "tracker/server/async_server.h"
#include "tracker/server/call_context.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// CommandService over a CommandTable: converts, calls the table, converts back, and reports calling
// workers to the registry and their places to the worker log. The contract is in
// command_service.proto. Must outlive the server that it serves on.
class CommandService {
 public:
  static constexpr char kName[] = "callslip.tracker.v1.CommandService";

  CommandService(Clock* clock, CommandTable* table, WorkerRegistry* workers, WorkerLog* worker_log)
      : clock_(clock), table_(table), workers_(workers), worker_log_(worker_log), log_(clock) {}

  // Call after the server was started with the service kName added to it.
  void ServeOn(AsyncServer& server);

  // From now on refuses new commands, waits and leases with `draining`; reports and reads continue
  // until the server is stopped. Ends all waits and streams.
  void Drain();

 private:
  UnaryMethod<v1::RegisterCommandRequest, v1::RegisterCommandResponse> Register;
  UnaryMethod<v1::GetCommandRequest, v1::GetCommandResponse> Get;
  UnaryMethod<v1::ListCommandsRequest, v1::ListCommandsResponse> List;
  UnaryMethod<v1::CancelCommandRequest, v1::CancelCommandResponse> Cancel;
  UnaryMethod<v1::ExpireCommandRequest, v1::ExpireCommandResponse> Expire;
  UnaryMethod<v1::ReplayCommandRequest, v1::ReplayCommandResponse> Replay;
  UnaryMethod<v1::AcknowledgeCommandRequest, v1::AcknowledgeCommandResponse> Acknowledge;
  UnaryMethod<v1::CompleteCommandRequest, v1::CompleteCommandResponse> Complete;

  using LeaseReply = DeferredReply<v1::LeaseCommandsResponse>;
  absl::Status Lease(const CallContext& caller, const v1::LeaseCommandsRequest& request,
                     const std::shared_ptr<LeaseReply>& reply);
  using WorkerStreamCall = ServerStream<v1::StreamCommandsResponse>;
  absl::Status Stream(const CallContext& caller, const v1::StreamCommandsRequest& request,
                      const std::shared_ptr<WorkerStreamCall>& stream);
  using WaitStream = ServerStream<v1::WaitForCommandResponse>;
  absl::Status Wait(const CallContext& caller, const v1::WaitForCommandRequest& request,
                    const std::shared_ptr<WaitStream>& stream);
  void Watch(const CallContext& caller, std::shared_ptr<WatchStream::Call> call);

  // Checks a report before it is accepted, and returns the place where its command was worked on,
  // if the report names one. NOT_FOUND if the caller is restricted to targets other than the
  // command's, or gives no proof and is restricted to a name other than that of the worker which
  // holds it.
  template <typename Request>
  absl::StatusOr<PlaceClaim> CheckReport(const CallContext& caller, const Request& request);

  Clock* const clock_;
  CommandTable* const table_;
  WorkerRegistry* const workers_;
  WorkerLog* const worker_log_;
  CommandLog log_;

  Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  // Streams for Drain() to end. Expired ones are dropped when a new one is added.
  std::vector<std::weak_ptr<WatchStream>> watch_streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
