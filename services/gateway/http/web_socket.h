#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "boost/asio/awaitable.hpp"

namespace callslip::gateway {

// Why a socket is closed: RFC 6455, section 7.4.1, and IANA's registry. 4000 to 4999 are for
// applications.
enum class WebSocketCloseCode : uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,        // The gateway stops.
  kUnsupportedData = 1003,  // A binary message.
  kInvalidPayload = 1007,   // Not UTF-8.
  kPolicyViolation = 1008,  // More messages than the server reads, or the token is no longer valid.
  kMessageTooBig = 1009,
  kInternalError = 1011,
  kTryAgainLater = 1013,  // The peer reads too slowly.
};

// One peer over a WebSocket, as its handler sees it. WebSocketLimits limits what a peer may use.
// Use on the executor of the listener, whose io_context must outlive this.
//
// The implementation handles pings and pongs, checks the peer's messages, and does the closing
// handshake.
class WebSocket {
 public:
  virtual ~WebSocket() = default;

  // The next message, valid UTF-8 and complete even if it was fragmented. Nullopt once the socket
  // is closing or the peer has left. One reader at a time.
  virtual boost::asio::awaitable<std::optional<std::string>> Read() = 0;

  // Queues a text message, which must be valid UTF-8, and returns at once. Messages are not copied:
  // one can be in the queues of any number of sockets. If the queue would exceed its limit, the
  // message and the queue are dropped and the socket is closed with kTryAgainLater. The limit does
  // not apply to a message that none waits before. Does nothing once the socket is closing.
  virtual void Send(std::shared_ptr<const std::string> message) = 0;
  void Send(std::string message) { Send(std::make_shared<const std::string>(std::move(message))); }

  // Returns once at most half of the queue's limit is in use, or the socket is closing: for a
  // caller that has more to send than may be queued. One caller at a time.
  virtual boost::asio::awaitable<void> AwaitRoom() = 0;

  // Sends the queued messages and then closes. The handler is canceled, as when the peer leaves.
  // `reason` helps a person find an error, and is truncated to the 123 bytes available. Does
  // nothing if the socket is closing already.
  virtual void Close(WebSocketCloseCode code, const std::string& reason) = 0;
};

// Serves one peer for as long as it runs; the socket is closed with kNormal when it returns and
// with kInternalError when it throws. It is canceled once the socket is closing for another reason:
// the peer has left, or is too slow, or the gateway stops.
using WebSocketServer = std::function<boost::asio::awaitable<void>(std::shared_ptr<WebSocket>)>;

// The terms on which a request and its route turn the connection into a WebSocket.
struct WebSocketUpgrade {
  std::string key;       // Sec-WebSocket-Key, as received.
  std::string protocol;  // Sec-WebSocket-Protocol of the response; omitted if empty.
  WebSocketServer server;
};

}  // namespace callslip::gateway
