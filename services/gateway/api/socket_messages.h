#ifndef CALLSLIP_GATEWAY_API_SOCKET_MESSAGES_H_
#define CALLSLIP_GATEWAY_API_SOCKET_MESSAGES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/http/web_socket.h"
#include "gateway/json/parse.h"

// What goes over each WebSocket of the API: docs/http.md.
namespace callslip::gateway {

// {"type", "data"}.
void SendMessage(WebSocket& socket, const char* type, Json data);

// {"type": "request_failed"}: what went wrong with the message `request` of the peer, or with the
// socket where that is empty.
void SendFailure(WebSocket& socket, const absl::Status& status, const std::string& request = "",
                 const std::string& request_id = "");

// Answers whatever the peer says with `keepalive_ack`, until it leaves.
boost::asio::awaitable<void> AnswerKeepalives(std::shared_ptr<WebSocket> socket);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_API_SOCKET_MESSAGES_H_
