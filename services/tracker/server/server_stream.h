#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"

// Calls that are answered later, as a service sees them. All are thread-safe. A service holds a
// call by shared_ptr as long as it may still answer, and must release it once the call is finished
// or its caller has left: AsyncServer::Stop() waits for that.
namespace callslip::tracker {

// A call with one answer. Finishing it twice, or after the caller has left, has no effect.
template <typename Response>
class DeferredReply {
 public:
  virtual ~DeferredReply() = default;

  // Calls `if_lost` if the response is known not to reach the caller: at once, or when gRPC reports
  // so.
  virtual void Finish(Response response, std::function<void()> if_lost) = 0;
  virtual void Fail(const absl::Status& status) = 0;
  // Calls `action` once if the caller leaves before the call is finished; at once if it has already
  // left. Set it once.
  virtual void OnCallerLeft(std::function<void()> action) = 0;
};
template <typename Response>
using Reply = std::shared_ptr<DeferredReply<Response>>;

// A message to send, and two actions of which one is called: once it has been sent, or if it is
// known not to reach the caller. This knowledge is limited: gRPC considers a message sent once the
// caller's window has space for it, which is 4 MiB for callers that use gRPC themselves.
template <typename Response>
struct Outgoing {
  Response message;
  std::function<void()> if_lost;  // May be null.
  std::function<void()> if_sent;  // May be null.
};

// Messages to the caller of one call, pulled from the service when they can be sent: changes while
// the caller reads slowly cost nothing here, and the source can merge them.
template <typename Response>
class ServerStream {
 public:
  // Returns the next message, or nullopt if there is none yet.
  using Source = std::function<std::optional<Outgoing<Response>>()>;

  virtual ~ServerStream() = default;

  // After a Wake(), calls `source` for the next message whenever the stream can send one, until it
  // has none: from one thread at a time, which is a polling thread or the caller of Wake(),
  // Finish() or this function. Destroys `source` when the stream ends or its caller has left; it
  // may hold the stream until then. Set it once, before the first Wake().
  virtual void SetSource(Source source) = 0;

  // Signals that there may be a message to send. If the stream is idle, asks the source and starts
  // to send. A Wake() while the source is being asked makes it be asked again. Does not block.
  virtual void Wake() = 0;

  // Ends the stream once the source has nothing more to send. The first call counts; later ones,
  // and those after the caller has left, have no effect.
  virtual void Finish(const absl::Status& status) = 0;

  // Calls `action` once if the caller leaves before the call is finished; at once if it has already
  // left. Set it once.
  virtual void OnCallerLeft(std::function<void()> action) = 0;
};

// A ServerStream whose caller sends more than one request.
template <typename Request, typename Response>
class DuplexStream : public ServerStream<Response> {
 public:
  // Calls `on_request` with the requests, one at a time and in order; the next one is read once it
  // has returned. Calls `on_requests_done` once after the last of them, unless the caller is known
  // to have left or the stream has ended. Both run on a polling thread, are destroyed when they
  // will not be called any more, and may hold the stream until then. Set them once.
  virtual void SetReceiver(std::function<void(const Request&)> on_request,
                           std::function<void()> on_requests_done) = 0;
};

}  // namespace callslip::tracker
