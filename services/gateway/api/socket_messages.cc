#include "gateway/api/socket_messages.h"

#include <optional>
#include <utility>

#include "gateway/json/session_json.h"
#include "gateway/json/tracker_error.h"

namespace callslip::gateway {

void SendMessage(WebSocket& socket, const char* type, Json data) {
  socket.Send(Dump({{"type", type}, {"data", std::move(data)}}));
}

void SendFailure(WebSocket& socket, const absl::Status& status, const std::string& request,
                 const std::string& request_id) {
  socket.Send(Dump(FailureMessage(TrackerErrorOf(status), request, request_id)));
}

boost::asio::awaitable<void> AnswerKeepalives(std::shared_ptr<WebSocket> socket) {
  // The peer's messages are ignored; reading detects its disconnect.
  std::optional<std::string> message = co_await socket->Read();
  while (message.has_value()) {
    SendMessage(*socket, "keepalive_ack", Json::object());
    message = co_await socket->Read();
  }
}

}  // namespace callslip::gateway
