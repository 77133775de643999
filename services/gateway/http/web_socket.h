#ifndef CALLSLIP_GATEWAY_HTTP_WEB_SOCKET_H_
#define CALLSLIP_GATEWAY_HTTP_WEB_SOCKET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "boost/asio/awaitable.hpp"

namespace callslip::gateway {

// Why a socket is closed: RFC 6455, section 7.4.1, and IANA's registry. 4000 to 4999 are free for
// the application.
enum class WebSocketCloseCode : uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,        // The gateway stops.
  kUnsupportedData = 1003,  // A binary message.
  kInvalidPayload = 1007,   // No UTF-8.
  kPolicyViolation = 1008,  // More messages than are read; or the token is not valid any more.
  kMessageTooBig = 1009,
  kInternalError = 1011,
  kTryAgainLater = 1013,  // The peer reads too slowly.
};

// One peer over a WebSocket, as its handler sees it. What a peer may cost is in WebSocketLimits.
// Used on the executor of the listener, whose io_context must outlive it.
//
// Pings and pongs, the checks of what the peer sends, and the closing handshake are none of the
// handler's business.
class WebSocket {
 public:
  virtual ~WebSocket() = default;

  // The next message, valid UTF-8 and whole however it was fragmented. Nullopt once the socket is
  // closing or its peer has left. One reader at a time.
  virtual boost::asio::awaitable<std::optional<std::string>> Read() = 0;

  // Queues a text message, which must be valid UTF-8, and returns at once. Messages are not copied:
  // one may be in the queues of any number of sockets. Where the queue would exceed its limit, it
  // is dropped and the socket closed with kTryAgainLater; a message that nothing waits before is
  // sent however large it is. Does nothing once the socket is closing.
  virtual void Send(std::shared_ptr<const std::string> message) = 0;
  void Send(std::string message) { Send(std::make_shared<const std::string>(std::move(message))); }

  // Returns once at most half of the queue's limit is in use, or the socket is closing: for who has
  // more to send than may be queued. One caller at a time.
  virtual boost::asio::awaitable<void> AwaitRoom() = 0;

  // Sends what is queued and then closes. The handler is cancelled, as when the peer leaves.
  // `reason` is for people who look for an error, and cut to the 123 bytes that there are. Does
  // nothing where the socket is closing already.
  virtual void Close(WebSocketCloseCode code, const std::string& reason) = 0;
};

// Serves one peer for as long as it runs; the socket is closed with kNormal when it returns and
// with kInternalError when it throws. It is cancelled once the socket is closing for another
// reason: the peer has left, or is too slow, or the gateway stops.
using WebSocketServer = std::function<boost::asio::awaitable<void>(std::shared_ptr<WebSocket>)>;

// What a request agrees on with the route that turns its connection into a WebSocket.
struct WebSocketUpgrade {
  std::string key;       // Sec-WebSocket-Key, as it came.
  std::string protocol;  // Sec-WebSocket-Protocol of the answer; none where it is empty.
  WebSocketServer server;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_WEB_SOCKET_H_
