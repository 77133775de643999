#include "bridge/http/gateway_client.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bridge/http/limits.h"
#include "bridge/http/sse_parser.h"

namespace callslip::bridge {
namespace {

// With some reserve; a longer head is allowed.
constexpr size_t kUsualHeadBytes = 512;

std::string HostOf(const GatewayUrl& url) {
  return url.is_unix() ? "localhost" : url.origin.substr(url.origin.find("//") + 2);
}

// The headers common to all requests.
std::string UsualHeaders(const GatewayUrl& url) {
  std::string headers;
  AddHeader(headers, "Host", HostOf(url));
  AddHeader(headers, "Content-Type", "application/json");
  AddHeader(headers, "Accept", "application/json, text/event-stream");
  return headers;
}

Endpoint WithTls(Endpoint endpoint, std::shared_ptr<const ClientTls> tls) {
  endpoint.tls = std::move(tls);
  return endpoint;
}

// Performs one POST and collects its answer.
class Exchanger {
 public:
  Exchanger(const RequestAuth& auth, AbortSwitch& abort, const GatewayClient::EventSink& on_event)
      : auth_(auth), abort_(abort), on_event_(on_event), events_(kMaxAnswerBytes) {}

  // True if the connection can carry another call.
  bool Run(HttpConnection& connection, absl::string_view head, absl::string_view message) {
    // Nothing has been sent: the last moment at which the call can still be cancelled.
    begun_ = abort_.BeginExchange([&connection] { connection.Shutdown(); });
    if (!begun_) return false;
    if (connection.Send(head, message)) {
      end_ = ReadHttpAnswer(
          connection, exchange_.head,
          [this](const ResponseHead&, absl::string_view bytes) { return Receive(bytes); });
    }
    abort_.EndExchange();
    if (is_whole()) CheckProof();
    return end_ == HttpAnswerEnd::kWhole && is_believed_;
  }

  Exchange Result() {
    Exchange exchange = {.outcome = Outcome()};
    if (exchange.outcome == Exchange::Outcome::kUnproven) return exchange;
    exchange.head = std::move(exchange_.head);
    exchange.body = std::move(exchange_.body);
    return exchange;
  }

 private:
  bool is_event_stream() const { return exchange_.head.content_type == "text/event-stream"; }

  bool is_whole() const { return end_ == HttpAnswerEnd::kWhole || end_ == HttpAnswerEnd::kLast; }

  void CheckProof() {
    const auto body =
        is_event_stream() ? std::nullopt : std::optional<absl::string_view>(exchange_.body);
    is_believed_ = auth_.Believes(exchange_.head, body);
  }

  bool Receive(absl::string_view bytes) {
    if (is_event_stream()) {
      // Before any of it is passed on.
      if (!std::exchange(is_stream_checked_, true)) CheckProof();
      if (!is_believed_) return false;
      const auto result = events_.Feed(bytes, [this](absl::string_view data) {
        return !abort_.aborted() && on_event_(exchange_.head, data);
      });
      stream_done_ = result == SseParser::Result::kDone;
      too_large_ = result == SseParser::Result::kTooLarge;
    } else {
      too_large_ = exchange_.body.size() + bytes.size() > kMaxAnswerBytes;
      if (!too_large_) absl::StrAppend(&exchange_.body, bytes);
    }
    return !stream_done_ && !too_large_;
  }

  Exchange::Outcome Outcome() {
    if (stream_done_) return Exchange::Outcome::kAnswered;
    // The proof of a part cannot be verified.
    const bool is_cut = too_large_ && !is_event_stream() && auth_.asks_for_proof();
    if (!is_believed_ || is_cut) return Exchange::Outcome::kUnproven;
    if (is_whole()) {
      return is_event_stream() ? Exchange::Outcome::kStreamEnded : Exchange::Outcome::kAnswered;
    }
    if (abort_.aborted()) return Exchange::Outcome::kAborted;
    if (!begun_) return Exchange::Outcome::kNotSent;
    return too_large_ ? Exchange::Outcome::kTooLarge : Exchange::Outcome::kBroken;
  }

  const RequestAuth& auth_;
  AbortSwitch& abort_;
  const GatewayClient::EventSink& on_event_;
  SseParser events_;
  Exchange exchange_;
  HttpAnswerEnd end_ = HttpAnswerEnd::kBroken;
  bool begun_ = false;
  bool stream_done_ = false;
  bool too_large_ = false;
  bool is_believed_ = true;
  bool is_stream_checked_ = false;
};

}  // namespace

bool GatewayUrl::is_unix() const { return absl::StartsWith(origin, "unix:"); }

absl::StatusOr<GatewayUrl> ParseGatewayUrl(absl::string_view text) {
  constexpr absl::string_view kUnix = "unix:";
  if (absl::StartsWith(text, kUnix) && text.size() > kUnix.size()) {
    return GatewayUrl{.origin = std::string(text), .path = "/mcp"};
  }
  const size_t host = text.find("://");
  const absl::string_view scheme = text.substr(0, host);
  if (host == absl::string_view::npos || (scheme != "http" && scheme != "https")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--gateway \"", text,
                     "\" is not a URL; write for example http://127.0.0.1:7890, or unix:PATH"));
  }
  const size_t path = text.find('/', host + 3);
  GatewayUrl url = {.origin = std::string(text.substr(0, path)), .path = "/mcp"};
  if (path != absl::string_view::npos && path + 1 < text.size()) {
    url.path = std::string(text.substr(path));
  }
  if (url.origin.size() == host + 3 || !absl::c_all_of(text, absl::ascii_isgraph)) {
    return absl::InvalidArgumentError(absl::StrCat("--gateway \"", text, "\" names no host"));
  }
  return url;
}

GatewayClient::GatewayClient(GatewayUrl url, TokenSource token_source, Clock* clock,
                             std::shared_ptr<const ClientTls> tls)
    : url_(std::move(url)),
      endpoint_(WithTls(EndpointOf(url_.origin), std::move(tls))),
      host_(HostOf(url_)),
      usual_headers_(UsualHeaders(url_)),
      token_source_(std::move(token_source)),
      clock_(clock),
      token_(token_source_()) {}

GatewayClient::~GatewayClient() = default;

Exchange GatewayClient::Post(const std::string& message, absl::string_view headers,
                             absl::Duration silence, AbortSwitch& abort,
                             const EventSink& on_event) {
  const bool was_sent = abort.sent();
  Exchange exchange = PostOnce(message, headers, silence, abort, on_event);
  if (!CorrectClock(exchange)) return exchange;
  if (!was_sent) abort.ForgetSent();
  return PostOnce(message, headers, silence, abort, on_event);
}

Exchange GatewayClient::PostOnce(const std::string& message, absl::string_view headers,
                                 absl::Duration silence, AbortSwitch& abort,
                                 const EventSink& on_event) {
  int token_generation = 0;
  const RequestAuth auth = AuthorizationFor("POST", url_.path, message, token_generation);
  const std::string head = RequestHead("POST", url_.path, headers, message.size(), auth);
  Exchanger exchanger(auth, abort, on_event);
  auto connection = TakeConnection();
  if (connection.ok()) {
    (*connection)->SetSilence(silence);
    if (exchanger.Run(**connection, head, message)) KeepConnection(*std::move(connection));
  }
  Exchange exchange = exchanger.Result();
  if (!connection.ok()) exchange.failure = std::string(connection.status().message());
  exchange.token_generation = token_generation;
  return exchange;
}

Exchange GatewayClient::Ask(const std::string& method, const std::string& path,
                            absl::string_view headers, absl::Duration timeout) {
  Exchange exchange = AskOnce(method, path, headers, timeout);
  return CorrectClock(exchange) ? AskOnce(method, path, headers, timeout) : exchange;
}

Exchange GatewayClient::AskOnce(const std::string& method, const std::string& path,
                                absl::string_view headers, absl::Duration timeout) {
  Exchange exchange;
  const RequestAuth auth = AuthorizationFor(method, path, "", exchange.token_generation);
  const std::string head = RequestHead(method, path, headers, 0, auth);
  const auto connection = HttpConnection::Connect(endpoint_, timeout / 2);
  if (!connection.ok()) exchange.failure = std::string(connection.status().message());
  if (!connection.ok() || !(*connection)->Send(head, "")) return exchange;
  const HttpAnswerEnd end = ReadHttpAnswer(**connection, exchange.head,
                                           [&](const ResponseHead&, absl::string_view bytes) {
                                             absl::StrAppend(&exchange.body, bytes);
                                             return exchange.body.size() <= kMaxAskedBytes;
                                           });
  const bool is_whole = end == HttpAnswerEnd::kWhole || end == HttpAnswerEnd::kLast;
  if (is_whole && auth.Believes(exchange.head, exchange.body)) {
    exchange.outcome = Exchange::Outcome::kAnswered;
    return exchange;
  }
  return {.outcome = is_whole ? Exchange::Outcome::kUnproven : Exchange::Outcome::kNotSent,
          .token_generation = exchange.token_generation};
}

RequestAuth GatewayClient::AuthorizationFor(absl::string_view method, absl::string_view path,
                                            absl::string_view body, int& token_generation) {
  std::string token;
  absl::Duration clock_offset;
  {
    MutexLock lock(&mutex_);
    token_generation = token_generation_;
    token = token_;
    clock_offset = clock_offset_;
  }
  if (token.empty()) return {};
  // The gateway's certificate has proven its identity. A socket file does not: another user could
  // create one there.
  if (endpoint_.is_tls) return RequestAuth::WithBearer(token);
  return RequestAuth::WithSignature(std::move(token),
                                    {.method = method, .host = host_, .target = path, .body = body},
                                    clock_->Now() + clock_offset);
}

bool GatewayClient::CorrectClock(const Exchange& exchange) {
  if (exchange.outcome != Exchange::Outcome::kAnswered) return false;
  const std::optional<absl::Time> time = ServerTimeIn(exchange.head, exchange.body);
  if (!time) return false;
  MutexLock lock(&mutex_);
  clock_offset_ = *time - clock_->Now();
  return true;
}

bool GatewayClient::RenewToken(int refused_generation) {
  std::string token = token_source_();
  MutexLock lock(&mutex_);
  if (token_generation_ != refused_generation) return true;
  if (token.empty() || token == token_) return false;
  token_ = std::move(token);
  ++token_generation_;
  return true;
}

std::string GatewayClient::RequestHead(absl::string_view method, absl::string_view path,
                                       absl::string_view headers, size_t content_length,
                                       const RequestAuth& auth) const {
  std::string head;
  head.reserve(kUsualHeadBytes);
  absl::StrAppend(&head, method, " ", path, " HTTP/1.1\r\n");
  absl::StrAppend(&head, usual_headers_, headers);
  AddHeader(head, "Content-Length", absl::AlphaNum(content_length).Piece());
  if (!auth.header().empty()) AddHeader(head, "Authorization", auth.header());
  head.append("\r\n");
  return head;
}

absl::StatusOr<std::unique_ptr<HttpConnection>> GatewayClient::TakeConnection() {
  const absl::Time oldest = clock_->Now() - kMaxIdleConnection;
  std::unique_ptr<HttpConnection> connection;
  std::vector<Idle> stale;  // Closed after the lock is released.
  {
    MutexLock lock(&mutex_);
    if (!idle_.empty() && idle_.back().since >= oldest) {
      connection = std::move(idle_.back().connection);
      idle_.pop_back();
    } else {
      stale.swap(idle_);
    }
  }
  if (connection != nullptr && connection->IsQuiet()) return connection;
  return HttpConnection::Connect(endpoint_, kConnectTimeout);
}

void GatewayClient::KeepConnection(std::unique_ptr<HttpConnection> connection) {
  const absl::Time now = clock_->Now();
  MutexLock lock(&mutex_);
  idle_.push_back({std::move(connection), now});
}

}  // namespace callslip::bridge
