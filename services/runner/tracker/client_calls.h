#ifndef CALLSLIP_RUNNER_TRACKER_CLIENT_CALLS_H_
#define CALLSLIP_RUNNER_TRACKER_CLIENT_CALLS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "callslip/tracker/v1/session_service.pb.h"
#include "common/address.h"
#include "common/tls_files.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/message_stream.h"

namespace callslip::runner {

namespace v1 = callslip::tracker::v1;

// What somebody asks of the tracker who talks to an agent. As TrackerCalls.
class ClientCalls {
 public:
  template <typename T>
  using Result = boost::asio::awaitable<absl::StatusOr<T>>;

  virtual ~ClientCalls() = default;

  virtual Result<v1::Session> Call(v1::CreateSessionRequest request) = 0;
  virtual Result<v1::Session> Call(v1::EndSessionRequest request) = 0;
  virtual Result<v1::QueuedMessage> Call(v1::AddMessageRequest request) = 0;
  virtual Result<v1::Permission> Call(v1::AnswerPermissionRequest request) = 0;
  virtual Result<v1::QueueStatus> Call(v1::StopTurnRequest request) = 0;

  virtual std::unique_ptr<MessageStream<v1::SessionUpdate>> Open(
      v1::WatchSessionRequest request) = 0;
};

std::unique_ptr<ClientCalls> ConnectAsClient(const Address& address,
                                             std::shared_ptr<CallQueue> calls,
                                             boost::asio::any_io_executor executor,
                                             const std::optional<TlsFiles>& tls);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_TRACKER_CLIENT_CALLS_H_
