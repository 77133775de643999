#ifndef CALLSLIP_GATEWAY_HTTP_RESPONDER_H_
#define CALLSLIP_GATEWAY_HTTP_RESPONDER_H_

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

// The connection of a request, as far as whoever judges it has to tell it something.
class Admission {
 public:
  // The request is that of a known caller, by `credential`; null where nothing had to be shown.
  // Once that is over, so is the request. False where its caller has no room for so long a head: it
  // is to be refused with TooManyBodies().
  virtual bool LetIn(CredentialPtr credential) = 0;

 protected:
  ~Admission() = default;
};

// The way back to the peer for the answer to one request.
struct Responder {
  // To be called once, at any time, on `executor`; also where the peer has left, which drops the
  // answer and ends the request.
  absl::AnyInvocable<void(HttpResponse) &&> respond;
  // Emitted when the peer leaves before that: whatever is waited for is to end then.
  boost::asio::cancellation_slot peer_left;
  // Whether it has left; to be looked at before `respond` is called. Null: it can't be told.
  const bool* has_left = nullptr;
  // To be told, before the answer, that the request is a known caller's. Null: nobody asks.
  Admission* admission = nullptr;
  // Whether it ended with its credential: `peer_left` was emitted for that, and the answer is to
  // say so. Null: no.
  const bool* is_expelled = nullptr;
  // The server's.
  boost::asio::any_io_executor executor;
};

// Answers one request, which is its own, by a call. For requests that thousands of peers hold at a
// time: what waits is what the handler keeps, where a coroutine keeps all of its frames.
using RespondingHandler = std::function<void(std::shared_ptr<HttpRequest>, Responder)>;

// Answers one request, which is its own, as a coroutine. It is cancelled when the peer leaves
// before the answer is there: whatever it waits for then ends, and its result is dropped.
using HttpHandler =
    std::function<boost::asio::awaitable<HttpResponse>(std::shared_ptr<HttpRequest>)>;

// Of whom a body is, while it is read.
enum class BodyAccount {
  kKnown,     // Of a caller who was let in.
  kClaimed,   // Of a caller, it says: its signature is judged with its body.
  kStranger,  // Of somebody who need not show anything.
};

// What becomes of a request whose head is here, and its body not yet.
struct HeadVerdict {
  // Whatever the body is, it will be refused: the handler gets it as it is, to say so, and the
  // connection ends.
  bool is_refused = false;
  // A larger body is refused with 413.
  uint64_t body_bytes = kLargestBodyBytes;
  // On whose account it comes.
  BodyAccount account = BodyAccount::kKnown;
  std::string caller = {};  // Of a known one.
};
// Calls `done` once, on the executor, before it returns or later. What it changes in `head` stays
// in the request.
using HeadJudge = std::function<void(const std::shared_ptr<HttpRequest>& head,
                                     absl::AnyInvocable<void(HeadVerdict) &&> done)>;

// `handler` as the former kind.
RespondingHandler Spawning(HttpHandler handler);

// Runs `answer` as a coroutine and responds with its result, or with 500 where it throws. To be
// called on the responder's executor, where it begins at once: a coroutine that is cancelled before
// it has begun throws out of the loop (Asio 1.81).
void RespondWith(boost::asio::awaitable<HttpResponse> answer, Responder responder);

// What is answered, and logged, where a handler has thrown: ours throw nothing, but the libraries
// under them may.
HttpResponse HandlerFailure(const std::exception& error);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_RESPONDER_H_
