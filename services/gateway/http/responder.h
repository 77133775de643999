#pragma once

#include <functional>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "auth/credentials.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "gateway/http/http_limits.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// Tells the connection of a request how the request was judged.
class Admission {
 public:
  // Reports that the request comes from a known caller, by `credential`; null if none was required.
  // When the credential ends, the request ends, too. False if its caller's budget has no room for
  // such a long head: refuse the request with TooManyBodies().
  virtual bool LetIn(CredentialPtr credential) = 0;

 protected:
  ~Admission() = default;
};

// The way back to the peer for the response to one request.
struct Responder {
  // Call once, at any time, on `executor`; also after the peer has left, which drops the response
  // and ends the request.
  absl::AnyInvocable<void(HttpResponse) &&> respond;
  // Emitted when the peer leaves before the response: any wait must end then.
  boost::asio::cancellation_slot peer_left;
  // Whether it has left; check before calling `respond`. Null if unknown.
  const bool* has_left = nullptr;
  // Notify before the response that the request comes from a known caller. Null: not needed.
  Admission* admission = nullptr;
  // Whether the request ended with its credential: `peer_left` was emitted for that reason, and the
  // response must state it. Null: no.
  const bool* is_expelled = nullptr;
  // The server's executor.
  boost::asio::any_io_executor executor;
};

// Answers one request, which it owns, through a callback. For requests that thousands of peers hold
// at a time: a waiting request costs only what the handler keeps, whereas a coroutine keeps all of
// its frames.
using RespondingHandler = std::function<void(std::shared_ptr<HttpRequest>, Responder)>;

// Answers one request, which it owns, as a coroutine. It is canceled when the peer leaves before
// the response: its wait then ends, and its result is dropped.
using HttpHandler =
    std::function<boost::asio::awaitable<HttpResponse>(std::shared_ptr<HttpRequest>)>;

// The account that a body counts for while it is read.
enum class BodyAccount {
  kKnown,     // An authenticated caller.
  kClaimed,   // A claimed caller: the signature can only be verified with the body.
  kStranger,  // A client that need not authenticate.
};

// How to proceed with a request after its head and before its body.
struct HeadVerdict {
  // The request will be refused whatever its body is: the handler gets it as it is, to send the
  // refusal, and the connection ends.
  bool is_refused = false;
  // A larger body is refused with 413.
  uint64_t body_bytes = kLargestBodyBytes;
  // The account that the body counts for.
  BodyAccount account = BodyAccount::kKnown;
  std::string caller = {};  // Of a known one.
};
// Calls `done` once, on the executor, before it returns or later. Its changes to `head` stay in the
// request.
using HeadJudge = std::function<void(const std::shared_ptr<HttpRequest>& head,
                                     absl::AnyInvocable<void(HeadVerdict) &&> done)>;

// Makes a RespondingHandler of `handler`.
RespondingHandler Spawning(HttpHandler handler);

// Runs `answer` as a coroutine and responds with its result, or with 500 if it throws. Call on the
// responder's executor, where it begins at once: a coroutine that is canceled before it has begun
// throws out of the loop (Asio 1.81).
void RespondWith(boost::asio::awaitable<HttpResponse> answer, Responder responder);

// The response, also logged, when a handler has thrown: our handlers throw nothing, but the
// libraries that they use can.
HttpResponse HandlerFailure(const std::exception& error);

}  // namespace callslip::gateway
