#ifndef CALLSLIP_GATEWAY_TRACKER_CLIENT_SESSION_CLIENT_H_
#define CALLSLIP_GATEWAY_TRACKER_CLIENT_SESSION_CLIENT_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "callslip/tracker/v1/runner_service.pb.h"
#include "callslip/tracker/v1/session_service.pb.h"
#include "common/address.h"
#include "common/tls_files.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/message_stream.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// The gateway's way to the tracker's sessions, queues and runners, as TrackerClient is to its
// commands. The RPC is told by the type of its request. Errors are the tracker's, with their
// ErrorDetails; an error without a reason came from the connection.
//
// A call waits for the connection within its deadline. What only reads or waits is ended at the
// tracker where its coroutine is cancelled; what changes something goes on. A connection of
// its own, so that long logs do not delay commands.
class SessionClient {
 public:
  template <typename T>
  using Result = boost::asio::awaitable<absl::StatusOr<T>>;
  template <typename T>
  using Stream = std::unique_ptr<MessageStream<T>>;

  virtual ~SessionClient() = default;

  virtual Result<v1::Session> Call(v1::CreateSessionRequest request) = 0;
  virtual Result<v1::Session> Call(v1::GetSessionRequest request) = 0;
  virtual Result<v1::ListSessionsResponse> Call(v1::ListSessionsRequest request) = 0;
  virtual Result<v1::Session> Call(v1::UpdateSessionRequest request) = 0;
  virtual Result<v1::Session> Call(v1::EndSessionRequest request) = 0;
  virtual Result<v1::Session> Call(v1::ResumeSessionRequest request) = 0;
  virtual Result<v1::DeleteSessionResponse> Call(v1::DeleteSessionRequest request) = 0;
  virtual Result<v1::AppendEventsResponse> Call(v1::AppendEventsRequest request) = 0;
  virtual Result<v1::ReadEventsResponse> Call(v1::ReadEventsRequest request) = 0;
  virtual Result<v1::Player> Call(v1::OpenPlayerRequest request) = 0;
  virtual Result<v1::MovePlayerResponse> Call(v1::MovePlayerRequest request) = 0;
  virtual Result<v1::ClosePlayerResponse> Call(v1::ClosePlayerRequest request) = 0;
  virtual Result<v1::AddAgentTextResponse> Call(v1::AddAgentTextRequest request) = 0;
  virtual Result<v1::Permission> Call(v1::AskPermissionRequest request) = 0;
  virtual Result<v1::Permission> Call(v1::AnswerPermissionRequest request) = 0;
  virtual Result<v1::ListPermissionsResponse> Call(v1::ListPermissionsRequest request) = 0;
  virtual Result<v1::ListPermissionsResponse> Call(v1::CancelPermissionsRequest request) = 0;

  virtual Result<v1::ImageRef> Call(v1::PutImageRequest request) = 0;
  virtual Result<v1::GetImageResponse> Call(v1::GetImageRequest request) = 0;

  virtual Result<v1::QueuedMessage> Call(v1::AddMessageRequest request) = 0;
  virtual Result<v1::QueuedMessage> Call(v1::GetMessageRequest request) = 0;
  virtual Result<v1::ListMessagesResponse> Call(v1::ListMessagesRequest request) = 0;
  virtual Result<v1::QueuedMessage> Call(v1::EditMessageRequest request) = 0;
  virtual Result<v1::ListMessagesResponse> Call(v1::MoveMessageRequest request) = 0;
  virtual Result<v1::QueuedMessage> Call(v1::PopMessageRequest request) = 0;
  virtual Result<v1::DeleteMessageResponse> Call(v1::DeleteMessageRequest request) = 0;
  virtual Result<v1::ClearMessagesResponse> Call(v1::ClearMessagesRequest request) = 0;
  virtual Result<v1::QueueStatus> Call(v1::GetQueueStatusRequest request) = 0;
  virtual Result<v1::QueueStatus> Call(v1::ConfigureQueueRequest request) = 0;
  virtual Result<v1::QueueStatus> Call(v1::PauseQueueRequest request) = 0;
  virtual Result<v1::QueueStatus> Call(v1::ResumeQueueRequest request) = 0;
  virtual Result<v1::QueueStatus> Call(v1::StopTurnRequest request) = 0;
  virtual Result<v1::StartTurnResponse> Call(v1::StartTurnRequest request) = 0;
  virtual Result<v1::QueueStatus> Call(v1::FinishTurnRequest request) = 0;

  virtual Result<v1::ListRunnersResponse> Call(v1::ListRunnersRequest request) = 0;
  virtual Result<v1::AgentState> Call(v1::ControlAgentRequest request) = 0;
  virtual Result<v1::FindSessionTokenResponse> Call(v1::FindSessionTokenRequest request) = 0;

  // Streams begin with their first Next(), or before it.
  virtual Stream<v1::SessionUpdate> Open(v1::WatchSessionRequest request) = 0;
  virtual Stream<v1::SessionNotice> Open(v1::WatchSessionsRequest request) = 0;
  virtual Stream<v1::SessionEvent> Open(v1::PlayRequest request) = 0;
  virtual Stream<v1::ReceivedMessage> Open(v1::ReceiveMessagesRequest request) = 0;

  // Ends what waits, and later waits at once, with an error from the connection, also those of the
  // queue's other clients. For the end of the process; on the executor of the coroutines.
  virtual void EndCalls() = 0;
};

// Connects lazily. `executor` is that of all coroutines and runs one at a time. The destruction of
// the client stops the queue; by then the executor must have stopped, and must still exist.
std::unique_ptr<SessionClient> ConnectToSessions(const std::vector<Address>& addresses,
                                                 std::shared_ptr<CallQueue> calls,
                                                 boost::asio::any_io_executor executor,
                                                 const std::optional<TlsFiles>& tls = std::nullopt);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_TRACKER_CLIENT_SESSION_CLIENT_H_
