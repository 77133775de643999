#ifndef CALLSLIP_GATEWAY_HTTP_WEB_SOCKET_UPGRADE_H_
#define CALLSLIP_GATEWAY_HTTP_WEB_SOCKET_UPGRADE_H_

#include <optional>
#include <string>

#include "gateway/http/http_message.h"
#include "gateway/http/web_socket.h"

namespace callslip::gateway {

// The protocol that we speak over a WebSocket. A client that offers protocols has to offer it.
inline constexpr char kWebSocketProtocol[] = "callslip.v1";

// The token that a client offers as the protocol "callslip.bearer.TOKEN", or nullopt where there is
// none: browsers let nobody set the Authorization header of a WebSocket, and what is in a URL ends
// up in logs.
std::optional<std::string> OfferedToken(const HttpRequest& request);

// 101, with `server` for the socket; 426 `upgrade_required` for what is no upgrade to a WebSocket
// of version 13 (RFC 6455), 400 `bad_upgrade` for one that is malformed.
HttpResponse UpgradeResponse(const HttpRequest& request, WebSocketServer server);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_WEB_SOCKET_UPGRADE_H_
