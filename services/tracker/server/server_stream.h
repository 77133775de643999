#ifndef CALLSLIP_TRACKER_SERVER_SERVER_STREAM_H_
#define CALLSLIP_TRACKER_SERVER_SERVER_STREAM_H_

#include <functional>
#include <optional>

#include "absl/status/status.h"

// Calls that are answered later, as a service sees them. All of them are thread-safe. A service
// holds one by shared_ptr for as long as it may still answer, and must let go of it once the call
// is finished or its caller has left: AsyncServer::Stop() waits for that.
namespace callslip::tracker {

// A call that is answered once. Finishing it twice, or after the caller has left, is harmless.
template <typename Response>
class DeferredReply {
 public:
  virtual ~DeferredReply() = default;

  // Calls `if_lost` where the response is known not to reach the caller: at once, or when gRPC
  // reports so.
  virtual void Finish(Response response, std::function<void()> if_lost) = 0;
  virtual void Fail(const absl::Status& status) = 0;
  // Calls `action` once if the caller leaves before the call is finished; at once if it has left.
  // To be set once.
  virtual void OnCallerLeft(std::function<void()> action) = 0;
};

// One message to send, and what to do once it has left, or where it is known not to reach the
// caller: one of the two. Known is little: gRPC takes a message as sent once the caller's window
// has room for it, which is 4 MiB for callers that use gRPC themselves.
template <typename Response>
struct Outgoing {
  Response message;
  std::function<void()> if_lost;  // May be null,
  std::function<void()> if_sent;  // as may this.
};

// Messages to the caller of one call, taken from the service when they can be sent: whatever
// changes while the caller reads slowly costs nothing here and can be merged by its source.
template <typename Response>
class ServerStream {
 public:
  // The next message, or nullopt if there is none as yet.
  using Source = std::function<std::optional<Outgoing<Response>>()>;

  virtual ~ServerStream() = default;

  // `source` is asked for the next message whenever the stream can take one after a Wake(), until
  // it has none: by one thread at a time, a polling thread or the one that called Wake(), Finish()
  // or this. It is destroyed when the stream ends or its caller has left, and may hold the stream
  // until then. To be set once, before the first Wake().
  virtual void SetSource(Source source) = 0;

  // There may be something to send. Where the stream is idle, this asks the source and starts to
  // send. A Wake() while the source is being asked leads to its being asked again. Does not block.
  virtual void Wake() = 0;

  // Ends the stream once the source has nothing more to send. The first one wins; harmless when
  // repeated and when the caller has left.
  virtual void Finish(const absl::Status& status) = 0;

  // Calls `action` once if the caller leaves before the call is finished; at once if it has left.
  // To be set once.
  virtual void OnCallerLeft(std::function<void()> action) = 0;
};

// A ServerStream whose caller sends more than one request.
template <typename Request, typename Response>
class DuplexStream : public ServerStream<Response> {
 public:
  // `on_request` gets the requests one at a time and in order; the next one is read once it has
  // returned. `on_requests_done` is called once after the last of them, unless the caller is known
  // to have left or the stream has ended. Both run on a polling thread, are destroyed when they
  // will not be called any more, and may hold the stream until then. To be set once.
  virtual void SetReceiver(std::function<void(const Request&)> on_request,
                           std::function<void()> on_requests_done) = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_SERVER_SERVER_STREAM_H_
