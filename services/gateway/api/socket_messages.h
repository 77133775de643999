#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/http/web_socket.h"
#include "gateway/json/parse.h"

// Messages common to all WebSockets of the API: docs/http.md.
namespace callslip::gateway {

// Sends {"type", "data"}.
void SendMessage(WebSocket& socket, const char* type, Json data);

// Sends {"type": "request_failed"}: the error of the peer's message `request`, or of the socket if
// that is empty.
void SendFailure(WebSocket& socket, const absl::Status& status, const std::string& request = "",
                 const std::string& request_id = "");

// Answers each message of the peer with `keepalive_ack`, until it disconnects.
boost::asio::awaitable<void> AnswerKeepalives(std::shared_ptr<WebSocket> socket);

}  // namespace callslip::gateway
