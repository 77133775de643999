#ifndef CALLSLIP_RUNNER_TRACKER_TRACKER_CALLS_H_
#define CALLSLIP_RUNNER_TRACKER_TRACKER_CALLS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/command_service.pb.h"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "callslip/tracker/v1/runner_service.pb.h"
#include "callslip/tracker/v1/session_service.pb.h"
#include "common/address.h"
#include "common/tls_files.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/message_stream.h"

namespace callslip::runner {

namespace v1 = callslip::tracker::v1;

// What a runner asks of the tracker; the RPC is told by the type of its request. Errors are the
// tracker's, with their ErrorDetails; an error without a reason came from the connection, and what
// was asked for may have been done. An interface, so that sessions are tested without a tracker.
class TrackerCalls {
 public:
  template <typename T>
  using Result = boost::asio::awaitable<absl::StatusOr<T>>;
  template <typename T>
  using Stream = std::unique_ptr<MessageStream<T>>;

  virtual ~TrackerCalls() = default;

  virtual Result<v1::AgentState> Call(v1::SetAgentStateRequest request) = 0;
  virtual Result<v1::AnswerControlResponse> Call(v1::AnswerControlRequest request) = 0;
  virtual Result<v1::ReleaseSessionResponse> Call(v1::ReleaseSessionRequest request) = 0;
  virtual Result<v1::IssueSessionTokenResponse> Call(v1::IssueSessionTokenRequest request) = 0;
  virtual Result<v1::StartTurnResponse> Call(v1::StartTurnRequest request) = 0;
  virtual Result<v1::QueueStatus> Call(v1::FinishTurnRequest request) = 0;
  virtual Result<v1::AppendEventsResponse> Call(v1::AppendEventsRequest request) = 0;
  virtual Result<v1::ReadEventsResponse> Call(v1::ReadEventsRequest request) = 0;
  virtual Result<v1::GetImageResponse> Call(v1::GetImageRequest request) = 0;
  // Waits for as long as the request says; is ended where its coroutine is.
  virtual Result<v1::Permission> Call(v1::AskPermissionRequest request) = 0;
  virtual Result<v1::ListPermissionsResponse> Call(v1::CancelPermissionsRequest request) = 0;

  virtual Stream<v1::Assignment> Open(v1::ServeRequest request) = 0;
  virtual Stream<v1::ReceivedMessage> Open(v1::ReceiveMessagesRequest request) = 0;
};

// Connects lazily. `executor` is that of all coroutines and runs one at a time; it must have
// stopped before this is destroyed, and must still exist then.
std::unique_ptr<TrackerCalls> ConnectToTracker(const Address& address,
                                               std::shared_ptr<CallQueue> calls,
                                               boost::asio::any_io_executor executor,
                                               const std::optional<TlsFiles>& tls = std::nullopt);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_TRACKER_TRACKER_CALLS_H_
