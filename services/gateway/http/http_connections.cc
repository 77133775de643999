#include "gateway/http/http_connections.h"

#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/write.hpp"
#include "common/clock.h"
#include "common/log.h"
#include "gateway/http/address_quota.h"
#include "gateway/http/await.h"
#include "gateway/http/error_response.h"
#include "gateway/http/http_codec.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;

// The account for bodies of signed requests. Not a valid name of a caller.
constexpr char kClaims[] = "signatures to judge";

// The precision of deadlines, and the interval for checking a peer that has sent its next request
// early.
constexpr std::chrono::milliseconds kTick{250};
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

HttpResponse NoUpgrade() {
  return ErrorResponse(400, "bad_upgrade", "A WebSocket is opened with HTTP/1.1 and an empty body.",
                       "Send nothing after the headers before the answer is there.");
}

HttpResponse NoTls() {
  return ErrorResponse(400, "tls_expected", "This port speaks HTTPS, and nothing without TLS.",
                       "Write https:// instead of http://.");
}

void LogFailure(absl::string_view message, const std::exception& error) {
  Log(LogLevel::kError, message, {{"error", error.what()}});
}

}  // namespace

// One connection from its acceptance to its end. Thousands of connections wait for their handlers
// at a time, so each must use little memory: this object, and one wait for the socket to become
// readable, which reports the next request or the peer's leaving. Only a multi-step operation is a
// coroutine: a response that the peer reads slowly, a streamed body, a refusal.
//
// Kept alive by the pending callbacks.
class Connection final : public Admission, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Transport transport, size_t listener, std::shared_ptr<Connections> all)
      : transport_(std::move(transport)),
        listener_(listener),
        all_(std::move(all)),
        index_(all_->open_.size()),
        queue_(&all_->busy_),
        place_(queue_->insert(queue_->end(), this)),
        head_place_(all_->bodies_),
        body_place_(all_->bodies_) {
    all_->open_.push_back(this);
  }
  ~Connection() {
    EndRequest();
    if (is_evicted_) --all_->evicted_;
    queue_->erase(place_);
    all_->open_.back()->index_ = index_;
    std::swap(all_->open_[index_], all_->open_.back());
    all_->open_.pop_back();
  }

  void Start() {
    if (!transport_.needs_handshake()) return AwaitRequest();
    Enter(all_->at_handshake_);
    ExpireAfter(all_->limits_.handshake_time);
    AwaitReadable();
  }

  // The idle time is a phase of its own: a peer can be idle for long, but must then send quickly. A
  // new connection is expected to send a request at once.
  void AwaitRequest() {
    ExpireAfter(is_new_ ? all_->limits_.header_time : all_->limits_.idle);
    if (received_.empty()) {
      Enter(all_->idle_);
      reading_ = true;
      return AwaitReadable();
    }
    // The next request arrived early. Not handled from here, because there may be many.
    asio::post(all_->executor_, [self = shared_from_this()] {
      if (self->is_abandoned_) return;
      self->reading_ = true;
      self->Parse();
    });
  }

  void Tick(absl::Time time) {
    // A handler that is notified may drop the last reference to this connection.
    const std::shared_ptr<Connection> self = shared_from_this();
    if (all_->now_ >= deadline_) Abandon();
    if (peer_is_early_) LookAfterPeer();
    if (watching_ && !expelled_ && credential_ != nullptr && credential_->IsOver(time)) Expel();
  }

  // Ends all waits for the peer.
  void Close() { transport_.Close(); }

  bool LetIn(CredentialPtr credential) override {
    credential_ = std::move(credential);
    Keep();
    if (head_bytes_ == 0) return true;
    // Handlers may hold it for as long as the request lasts.
    head_place_ = ByteBudget::Place(all_->bodies_);
    head_place_.SetCaller(AccountOf(credential_));
    return head_place_.Grow(head_bytes_);
  }

  // Whether its body is in transit, on that account.
  bool HasBodyOn(BodyAccount account) const {
    return account_ == account && body_place_.bytes() > 0;
  }

  // Makes room for another connection; from now on this one does not count.
  void Evict() {
    // A handler that is notified may drop the last reference.
    const std::shared_ptr<Connection> self = shared_from_this();
    Keep();
    if (!std::exchange(is_evicted_, true)) ++all_->evicted_;
    body_place_ = ByteBudget::Place(all_->bodies_);
    Abandon();
  }

 private:
  class StreamWriter;
  using Parts = std::array<asio::const_buffer, 2>;

  // Protects this connection from being evicted.
  void Keep() { Enter(all_->busy_); }

  // Gives the peer up: ends its handler's or its verifier's work for it.
  void Abandon() {
    is_abandoned_ = true;
    Close();
    if (!watching_ || peer_left_) return;
    peer_left_ = true;
    peer_left_signal_.emit(asio::cancellation_type::terminal);
  }

  void Enter(std::list<Connection*>& queue) {
    queue.splice(queue.end(), *queue_, place_);
    queue_ = &queue;
  }

  // Continues the handshake.
  void Shake() {
    switch (transport_.Shake()) {
      case Transport::Handshake::kDone: return AwaitRequest();
      case Transport::Handshake::kRead: return AwaitReadable();
      case Transport::Handshake::kWrite:
        return transport_.AsyncWaitWritable(
            [self = shared_from_this()](boost::system::error_code error) {
              if (!error) self->Shake();
            });
      case Transport::Handshake::kPlainHttp: Enter(all_->unknown_); return Run(Refuse(NoTls()));
      case Transport::Handshake::kFailed: Enter(all_->unknown_); return Run(Drop());
    }
  }

  // One wait at a time. If the peer sends nothing more, the wait outlasts the request and serves
  // for the next one.
  void AwaitReadable() {
    if (std::exchange(awaits_readable_, true)) return;
    transport_.AsyncWaitReadable([self = shared_from_this()](boost::system::error_code error) {
      self->awaits_readable_ = false;
      if (!error) self->OnReadable();
    });
  }

  void OnReadable() {
    if (transport_.needs_handshake()) return Shake();
    if (watching_) return LookAfterPeer();
    if (!reading_) return;
    const size_t room = parser_.has_value() ? parser_->ReadSize() : RequestParser::kFirstReadBytes;
    boost::system::error_code error;
    const size_t bytes = transport_.read_some(asio::buffer(all_->read_buffer_, room), error);
    if (error == asio::error::would_block) return AwaitReadable();
    if (error) return Close();
    received_.append(all_->read_buffer_.data(), bytes);
    Parse();
  }

  void Parse() {
    const HttpLimits& limits = all_->limits_;
    if (!parser_.has_value()) {
      parser_.emplace(limits);
      Enter(all_->unknown_);
      if (!is_new_) ExpireAfter(limits.header_time);
    }
    const bool had_head = parser_->HasHead();
    const size_t received = received_.size();
    const RequestParser::Next next = parser_->Parse(received_);
    if (next == RequestParser::Next::kRefuse) return Run(Refuse(parser_->TakeRefusal()));
    if (!had_head && parser_->HasHead()) {
      // Most heads arrive at once and are small.
      const bool is_large = received > RequestParser::kFirstReadBytes;
      head_bytes_ = is_large ? std::min<size_t>(received, limits.header_bytes) : 0;
      account_ = BodyAccount::kKnown;
      body_place_ = ByteBudget::Place(all_->bodies_);
    }
    if (next == RequestParser::Next::kDone) return Handle();
    if (!parser_->HasHead()) {
      // Beyond the first bytes, it counts as data of an unknown client.
      account_ = BodyAccount::kStranger;
      const bool is_large = received_.size() > RequestParser::kFirstReadBytes;
      return is_large && !Hold(received_.size()) ? Run(Refuse(TooManyBodies())) : AwaitReadable();
    }
    if (had_head) return AwaitBody(next, false);
    if (all_->judge_ == nullptr) return AwaitBody(next, true);
    BeginRequest();
    SetOrigin(*parser_->head());
    // Read nothing more until the caller is known.
    reading_ = false;
    all_->judge_(parser_->head(), [self = shared_from_this(), next](HeadVerdict verdict) {
      if (self->is_abandoned_) return;
      self->reading_ = true;
      if (self->MayHaveBody(std::move(verdict))) self->AwaitBody(next, true);
    });
  }

  // Whether to read the rest of a body. If false, the request has been dealt with.
  bool MayHaveBody(HeadVerdict verdict) {
    if (verdict.is_refused) {
      is_cut_ = true;
      Handle();
      return false;
    }
    if (parser_->LimitBody(verdict.body_bytes) == RequestParser::Next::kRefuse) {
      Run(Refuse(parser_->TakeRefusal()));
      return false;
    }
    account_ = verdict.account;
    if (account_ == BodyAccount::kClaimed) body_place_.SetCaller(kClaims);
    if (account_ == BodyAccount::kKnown) {
      body_place_.SetCaller(std::move(verdict.caller));
      Keep();
    }
    return true;
  }

  // Reserves `bytes` for the body; for a body of an unknown caller, takes them from other such
  // bodies if needed. False if there is no room.
  bool Hold(uint64_t bytes) {
    if (account_ == BodyAccount::kStranger && body_place_.bytes() == 0) {
      body_place_ = ByteBudget::Place(all_->strangers_bodies_);
    }
    if (body_place_.Grow(bytes)) return true;
    // Bodies of unknown callers are evicted, the one in transit longest first, if that frees
    // enough.
    const bool is_stranger = account_ == BodyAccount::kStranger;
    const BodyAccount others = is_stranger ? BodyAccount::kStranger : BodyAccount::kClaimed;
    if (!body_place_.WouldFit(bytes, is_stranger ? "" : kClaims)) return false;
    while (!body_place_.Grow(bytes)) {
      if (!all_->EndLongestBody(others, this)) return false;
    }
    return true;
  }

  void AwaitBody(RequestParser::Next next, bool is_new) {
    if (!Hold(parser_->body_bytes())) return Run(Refuse(TooManyBodies()));
    if (is_new) {
      parser_->ReserveBody();
      ExpireAfter(account_ == BodyAccount::kStranger ? all_->limits_.strangers_body_time
                                                     : all_->limits_.body_time);
      is_new_ = false;
    }
    if (next == RequestParser::Next::kContinue && !SendContinue()) return Close();
    AwaitReadable();
  }

  // Sets the fields that the connection knows.
  void SetOrigin(HttpRequest& request) const {
    request.peer_names = transport_.peer_names();
    request.listener = listener_;
    const std::string& forwarded_for = request.Header("x-forwarded-for");
    request.address = all_->proxies_.ClientOf(transport_.address(), forwarded_for);
    const std::string& peer = transport_.address();
    const bool is_local = peer.empty() || IsLoopbackKey(peer);
    if (is_local && !forwarded_for.empty() && all_->proxies_.is_empty()) all_->WarnOfProxy();
  }

  // Passes the request to its handler, which responds at once or at any time.
  void Handle() {
    // Without a judge there is no report of admitted requests.
    if (all_->judge_ == nullptr) Keep();
    std::shared_ptr<HttpRequest> request = parser_->TakeRequest();
    SetOrigin(*request);
    if (body_place_.bytes() > 0) {
      request->body_place = std::make_shared<ByteBudget::Place>(std::move(body_place_));
    }
    account_ = BodyAccount::kKnown;
    options_ = parser_->options();
    if (is_cut_) options_.keep_alive = false;
    parser_.reset();
    if (received_.empty()) received_.shrink_to_fit();
    reading_ = false;
    is_new_ = false;
    deadline_ = kNever;
    is_head_ = request->method == "HEAD";
    BeginRequest();
    StartWatch();
    auto respond = [self = shared_from_this()](HttpResponse response) {
      self->Respond(std::move(response));
    };
    try {
      all_->handler_(std::move(request), {.respond = std::move(respond),
                                          .peer_left = peer_left_signal_.slot(),
                                          .has_left = &peer_left_,
                                          .admission = this,
                                          .is_expelled = &expelled_,
                                          .executor = all_->executor_});
    } catch (const std::exception& error) {
      if (watching_) Respond(HandlerFailure(error));
    }
  }

  void Respond(HttpResponse response) {
    EndWatch();
    peer_left_signal_.slot().clear();
    if (peer_left_) return End();
    if (expelled_) options_.keep_alive = false;
    if (response.upgrade != nullptr && MayUpgrade()) return Upgrade(std::move(response.upgrade));
    if (response.upgrade != nullptr) response = NoUpgrade();
    const Framing framing = FramingOf(response);
    if (framing == Framing::kClose || all_->close_after_answers_) options_.keep_alive = false;
    std::string head = ResponseHead(response, options_, framing);
    // The response to a HEAD has the headers that a GET would get.
    if (is_head_) response.stream = nullptr;
    if (is_head_ || framing != Framing::kLength) response.body.clear();
    // Sends without waiting what the kernel accepts at once, which is all of most responses.
    boost::system::error_code error;
    const Parts parts = {asio::buffer(head), asio::buffer(response.body)};
    const size_t sent = transport_.write_some(parts, error);
    if (error && error != asio::error::would_block) return End();
    const bool complete = sent == asio::buffer_size(parts) && response.stream == nullptr;
    if (complete) return FinishRequest();
    Run(SendRest(std::move(head), std::move(response), sent));
  }

  // A client that sends frames before it has a response violates RFC 6455.
  bool MayUpgrade() const { return !options_.is_http_1_0 && received_.empty(); }

  void Upgrade(std::shared_ptr<const WebSocketUpgrade> upgrade) {
    // The wait for the socket may still be pending, and would keep this connection alive.
    transport_.Cancel();
    all_->web_sockets_->Serve(std::move(transport_), std::move(upgrade), std::move(credential_));
    End();
  }

  Framing FramingOf(const HttpResponse& response) const {
    if (response.stream == nullptr) return Framing::kLength;
    return options_.is_http_1_0 ? Framing::kClose : Framing::kChunks;
  }

  void FinishRequest() {
    if (std::exchange(is_cut_, false)) {
      EndRequest();
      return Run(Drop());
    }
    if (!options_.keep_alive || expelled_ || all_->close_after_answers_) return End();
    EndRequest();
    AwaitRequest();
  }

  void BeginRequest() {
    if (!std::exchange(under_way_, true)) ++all_->requests_;
  }

  void EndRequest() {
    if (!std::exchange(under_way_, false)) return;
    credential_ = nullptr;
    head_place_ = ByteBudget::Place(all_->bodies_);
    --all_->requests_;
    all_->TellIfIdle();
  }

  void End() {
    EndRequest();
    Close();
  }

  // Runs the last steps of a response, which report whether the peer received it. They are canceled
  // when it leaves.
  void Run(asio::awaitable<bool> steps) {
    reading_ = false;
    auto when_done = [self = shared_from_this()](const std::exception_ptr& error, bool taken) {
      self->peer_left_signal_.slot().clear();
      if (error == nullptr && taken) {
        self->FinishRequest();
      } else {
        self->End();
      }
    };
    asio::co_spawn(all_->executor_, std::move(steps),
                   asio::bind_cancellation_slot(peer_left_signal_.slot(), std::move(when_done)));
  }

  // Each co_await must stand alone in its statement: g++ 12 generates traps for some within a
  // condition.

  // Reserves budget for that much of a response, on its receiver's account; has no bytes if there
  // is no room.
  ByteBudget::Place UnsentPlace(size_t bytes) const {
    ByteBudget::Place place(all_->unsent_);
    place.SetCaller(AccountOf(credential_));
    place.Grow(bytes);
    return place;
  }

  // Sends the rest of a response after its first `sent` bytes. False if the unsent responses of its
  // caller exceed the limit.
  asio::awaitable<bool> SendRest(std::string head, HttpResponse response, size_t sent) {
    const ByteBudget::Place place = UnsentPlace(response.body.size());
    if (place.bytes() < response.body.size()) co_return false;
    const asio::const_buffer body = asio::buffer(response.body);
    const Parts rest = {asio::buffer(head) + sent, body + (sent - std::min(sent, head.size()))};
    bool taken = asio::buffer_size(rest) == 0;
    if (!taken) taken = co_await AwaitWrite(rest);
    if (taken && response.stream != nullptr) taken = co_await Stream(response);
    co_return taken;
  }

  // Sends the body of a streamed response. False if it is broken off.
  asio::awaitable<bool> Stream(const HttpResponse& response);

  // Sends the reason for refusing a request, and ends the connection.
  asio::awaitable<bool> Refuse(HttpResponse response) {
    // The body received so far is not kept while the peer reads the response.
    parser_.reset();
    body_place_ = ByteBudget::Place(all_->bodies_);
    const std::string head = ResponseHead(response, {}, Framing::kLength);
    const Parts parts = {asio::buffer(head), asio::buffer(response.body)};
    const bool sent = co_await AwaitWrite(parts);
    if (sent) co_await Linger();
    co_return false;
  }

  // Ends the connection of a peer that has received the reason.
  asio::awaitable<bool> Drop() {
    co_await Linger();
    co_return false;
  }

  // Continues to read for a moment after the last response: closing with unread bytes makes the
  // kernel reset the connection, and the peer could then lose the response.
  asio::awaitable<void> Linger() {
    // Somewhat more than the maximum body: many clients send all of theirs before they read.
    constexpr size_t kMaxBytes = 16 << 20;
    transport_.ShutdownSend();
    ExpireAfter(all_->limits_.linger_time);
    received_ = std::string();
    for (size_t total = 0; total < kMaxBytes;) {
      // The data is ignored, so all lingering connections read into the same buffer.
      auto [error, bytes] =
          co_await transport_.async_read_some(asio::buffer(all_->read_buffer_), kAwait);
      if (error) co_return;
      total += bytes;
    }
  }

  // Also yields to other connections. False if the peer has left or does not read.
  asio::awaitable<bool> AwaitWrite(Parts parts) {
    ExpireAfter(all_->limits_.write_time);
    auto [error, bytes] = co_await asio::async_write(transport_, parts, kAwait);
    deadline_ = kNever;
    co_return !error;
  }

  // False if the peer does not accept these few bytes.
  bool SendContinue() {
    constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    boost::system::error_code error;
    const asio::const_buffer bytes(kContinue.data(), kContinue.size());
    return transport_.write_some(std::array{bytes}, error) == kContinue.size();
  }

  void ExpireAfter(std::chrono::seconds time) { deadline_ = all_->now_ + time / kTick + 1; }

  // Notifies the handler or the producer when the peer closes its side: then there is nothing to
  // read although the socket is readable.
  void StartWatch() {
    watching_ = true;
    AwaitReadable();
  }

  // Ends the request because its credential is no longer valid. What it waits for ends as if the
  // peer had left.
  void Expel() {
    expelled_ = true;
    peer_left_signal_.emit(asio::cancellation_type::terminal);
  }

  void EndWatch() {
    watching_ = false;
    peer_is_early_ = false;
  }

  void LookAfterPeer() {
    // A peer that has sent its next request early does not make the socket readable when it leaves.
    peer_is_early_ = transport_.IsPeerOpen();
    if (peer_is_early_) return;
    peer_left_ = true;
    peer_left_signal_.emit(asio::cancellation_type::terminal);
  }

  Transport transport_;
  const size_t listener_;
  const std::shared_ptr<Connections> all_;
  size_t index_;                                  // In `all_->open_`.
  std::list<Connection*>* queue_;                 // One of those of `all_`.
  const std::list<Connection*>::iterator place_;  // In that queue.
  std::optional<RequestParser> parser_;           // While a request arrives.
  std::string received_;                          // And not yet parsed.
  int64_t deadline_ = kNever;                     // In ticks.
  asio::cancellation_signal peer_left_signal_;
  ConnectionOptions options_;  // Of the current request.
  bool is_head_ = false;       // Of the current request.
  bool is_new_ = true;         // The head of the first request is still to come.
  bool reading_ = false;       // Arriving data is, or will be, part of a request.
  bool under_way_ = false;     // A request is in progress, from the end of its headers to the end
                               // of its response.
  bool is_abandoned_ = false;  // Closed by this side.
  bool is_evicted_ = false;
  // A handler or a producer is running, which is canceled when the peer leaves.
  bool watching_ = false;
  bool awaits_readable_ = false;
  bool peer_is_early_ = false;
  bool peer_left_ = false;
  CredentialPtr credential_;  // Of the current request, which must end with it.
  bool expelled_ = false;
  size_t head_bytes_ = 0;                      // Of the current request, if it is a long head.
  ByteBudget::Place head_place_;               // For the head.
  ByteBudget::Place body_place_;               // Of the request being received.
  BodyAccount account_ = BodyAccount::kKnown;  // Of the request being received.
  bool is_cut_ = false;                        // The current request is refused by its head.
};

class Connection::StreamWriter final : public BodyWriter {
 public:
  explicit StreamWriter(Connection& connection)
      : connection_(connection), held_(connection.UnsentPlace(0)) {}

  asio::awaitable<void> Write(std::string piece) override {
    if (piece.empty()) co_return;  // An empty chunk would end the body.
    if (!connection_.options_.is_http_1_0) piece = Chunk(piece);
    const ByteBudget::Place place = connection_.UnsentPlace(piece.size());
    bool sent = place.bytes() == piece.size();
    const Parts parts = {asio::buffer(piece)};
    if (sent) sent = co_await connection_.AwaitWrite(parts);
    if (!sent) throw boost::system::system_error(asio::error::operation_aborted);
  }

  bool Hold(size_t bytes) override { return held_.Set(bytes); }

 private:
  Connection& connection_;
  ByteBudget::Place held_;
};

asio::awaitable<bool> Connection::Stream(const HttpResponse& response) {
  StreamWriter writer(*this);
  bool complete = false;
  StartWatch();
  try {
    asio::awaitable<void> body = response.stream(writer);
    co_await std::move(body);
    complete = true;
  } catch (const boost::system::system_error& error) {
    // An operation is aborted only when the peer has left or its deadline has passed.
    if (error.code() != asio::error::operation_aborted) LogFailure("stream failed", error);
  } catch (const std::exception& error) {
    LogFailure("stream failed", error);
  }
  EndWatch();
  if (complete && !options_.is_http_1_0) {
    const std::string last_chunk = Chunk("");
    const Parts parts = {asio::buffer(last_chunk)};
    complete = co_await AwaitWrite(parts);
  }
  co_return complete;
}

Connections::Connections(const asio::any_io_executor& executor, const HttpLimits& limits,
                         RespondingHandler handler, HeadJudge judge)
    : executor_(executor),
      limits_(limits),
      handler_(std::move(handler)),
      judge_(std::move(judge)),
      bodies_(std::make_shared<ByteBudget>(limits.all_bodies_bytes, limits.bodies_of_caller_bytes)),
      strangers_bodies_(std::make_shared<ByteBudget>(limits.strangers_bodies_bytes,
                                                     limits.strangers_bodies_bytes)),
      unsent_(std::make_shared<ByteBudget>(limits.all_unsent_bytes, limits.unsent_of_caller_bytes)),
      web_sockets_(std::make_shared<WebSockets>(limits.web_socket, bodies_, unsent_)),
      timer_(executor) {}

void Connections::Serve(Transport transport, size_t listener) {
  std::make_shared<Connection>(std::move(transport), listener, shared_from_this())->Start();
  if (at_handshake_.size() > limits_.handshakes) at_handshake_.front()->Close();
  StartTicking();
}

void Connections::WarnOfProxy() {
  if (std::exchange(has_warned_of_proxy_, true)) return;
  Log(LogLevel::kWarning, "requests come by a proxy that is not trusted",
      {{"hint",
        "All people behind it count as one address. Name it in --trusted-proxies if it adds "
        "the address of who asks it to X-Forwarded-For."}});
}

bool Connections::MakeRoom() {
  // The larger group is the one that fills the table.
  const std::list<Connection*>& longest = idle_.size() > unknown_.size() ? idle_ : unknown_;
  if (longest.empty()) return false;
  longest.front()->Evict();
  return true;
}

bool Connections::EndLongestBody(BodyAccount account, const Connection* next) {
  const auto longest = std::find_if(unknown_.begin(), unknown_.end(), [&](const auto* each) {
    return each != next && each->HasBodyOn(account);
  });
  if (longest == unknown_.end()) return false;
  (*longest)->Evict();
  return true;
}

void Connections::Drain(std::function<void()> when_idle) {
  CloseAfterAnswers();
  when_idle_ = std::move(when_idle);
  web_sockets_->Drain([self = weak_from_this()] {
    if (const auto all = self.lock(); all != nullptr) all->TellIfIdle();
  });
  TellIfIdle();
}

void Connections::TellIfIdle() {
  if (requests_ > 0 || web_sockets_->size() > 0 || when_idle_ == nullptr) return;
  when_idle_();
  when_idle_ = nullptr;
}

void Connections::StartTicking() {
  if (ticking_ || (open_.empty() && web_sockets_->size() == 0)) return;
  ticking_ = true;
  timer_.expires_after(kTick);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    self->ticking_ = false;
    if (!error) self->Tick();
  });
}

void Connections::Tick() {
  ++now_;
  const absl::Time time = WallTime();
  // Backwards, because the last one replaces one that ends.
  for (size_t i = open_.size(); i > 0; i = std::min(i - 1, open_.size())) open_[i - 1]->Tick(time);
  web_sockets_->Expel(time);
  StartTicking();
}

}  // namespace callslip::gateway
