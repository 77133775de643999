#pragma once

#include <optional>
#include <string>

#include "gateway/http/http_message.h"
#include "gateway/http/web_socket.h"

namespace callslip::gateway {

// The gateway's WebSocket protocol. A client that offers protocols must offer it.
inline constexpr char kWebSocketProtocol[] = "callslip.v1";

// The token that a client offers as the protocol "callslip.bearer.TOKEN", or nullopt if there is
// none. Browsers do not allow scripts to set the Authorization header of a WebSocket, and a token
// in a URL ends up in logs.
std::optional<std::string> OfferedToken(const HttpRequest& request);

// 101, with `server` for the socket; 426 `upgrade_required` if it is not an upgrade to a WebSocket
// of version 13 (RFC 6455), 400 `bad_upgrade` if it is malformed.
HttpResponse UpgradeResponse(const HttpRequest& request, WebSocketServer server);

}  // namespace callslip::gateway
