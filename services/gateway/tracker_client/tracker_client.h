#ifndef CALLSLIP_GATEWAY_TRACKER_CLIENT_TRACKER_CLIENT_H_
#define CALLSLIP_GATEWAY_TRACKER_CLIENT_TRACKER_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/command.pb.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "common/address.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// The gateway's way to the tracker: each method is one RPC that a coroutine awaits. Errors are the
// tracker's, with their ErrorDetails; an error without a reason came from the connection.
//
// A call waits for the connection within its deadline, so that a tracker that is being restarted
// costs time and no errors. A wait, poll or question whose coroutine is cancelled is cancelled at
// the tracker too: the wait is freed there, and the poll leases nothing. What hands something over
// (Register, Acknowledge, Complete) goes on: a result must not be lost because its bearer left.
//
// One completion queue and one thread of its own; the coroutines resume on their own executors.
// An interface, so that handlers can be tested without a tracker.
class TrackerClient {
 public:
  template <typename T>
  using Result = boost::asio::awaitable<absl::StatusOr<T>>;

  virtual ~TrackerClient() = default;

  virtual Result<v1::RegisterCommandResponse> Register(v1::RegisterCommandRequest request) = 0;
  virtual Result<v1::ListCommandsResponse> List(v1::ListCommandsRequest request,
                                                absl::Duration deadline) = 0;
  // The request's max_wait is the hold; the deadline of the call follows from it.
  virtual Result<v1::LeaseCommandsResponse> Lease(v1::LeaseCommandsRequest request) = 0;
  virtual Result<v1::AcknowledgeCommandResponse> Acknowledge(
      v1::AcknowledgeCommandRequest request) = 0;
  virtual Result<v1::CompleteCommandResponse> Complete(v1::CompleteCommandRequest request) = 0;

  // The command once it has ended, or as it is after `max_wait`; at once where that is zero.
  virtual Result<v1::Command> WaitForEnd(std::string client_id, std::string command_id,
                                         absl::Duration max_wait) = 0;

  // Ends all calls under way, and later ones at once, with an error from the connection. For the
  // end of the process; to be called on the executor of the coroutines.
  virtual void EndCalls() = 0;
};

// Connects lazily. Its destruction ends all calls; by then the coroutines' executors must have
// stopped, and must still exist.
std::unique_ptr<TrackerClient> ConnectToTracker(const Address& address);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_TRACKER_CLIENT_TRACKER_CLIENT_H_
