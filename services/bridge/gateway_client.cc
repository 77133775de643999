#include "bridge/gateway_client.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bridge/limits.h"
#include "bridge/sse_parser.h"
#include "httplib.h"

namespace callslip::bridge {
namespace {

void SetSilence(httplib::Client& connection, absl::Duration silence) {
  const auto microseconds = absl::ToChronoMicroseconds(silence);
  connection.set_read_timeout(microseconds);
  connection.set_write_timeout(microseconds);
}

// A TLS handshake would wait for the cork at each of its steps.
bool IsCorked(const GatewayUrl& url) { return absl::StartsWith(url.origin, "http://"); }

ResponseHead HeadOf(const httplib::Response& response) {
  const std::string content_type = response.get_header_value("Content-Type");
  const std::vector<absl::string_view> parts = absl::StrSplit(content_type, ';');
  return {.status = response.status,
          .content_type = absl::AsciiStrToLower(absl::StripAsciiWhitespace(parts.front())),
          .session_id = response.get_header_value("Mcp-Session-Id")};
}

// RFC 9112 lets such an answer go on until the connection closes; a 202 has nothing to say.
bool IsBareAcknowledgement(const httplib::Response& response) {
  return response.status == 202 && !response.has_header("Content-Length") &&
         !response.has_header("Transfer-Encoding");
}

// One POST: gets httplib's callbacks and remembers what they have seen.
class Exchanger {
 public:
  // `corked`: the connection holds back what does not fill a packet.
  Exchanger(httplib::Client& connection, bool corked, const std::string& message,
            AbortSwitch& abort, const GatewayClient::EventSink& on_event)
      : connection_(connection),
        corked_(corked),
        message_(message),
        abort_(abort),
        on_event_(on_event),
        events_(kMaxAnswerBytes) {}

  Exchange Run(httplib::Request request) {
    request.content_length_ = message_.size();
    request.content_provider_ = [this](size_t offset, size_t length, httplib::DataSink& sink) {
      return Send(offset, length, sink);
    };
    request.response_handler = [this](const httplib::Response& response) {
      exchange_.head = HeadOf(response);
      bare_ = IsBareAcknowledgement(response);
      return !bare_;
    };
    request.content_receiver = [this](const char* data, size_t size, uint64_t, uint64_t) {
      return Receive(absl::string_view(data, size));
    };
    const httplib::Result result = connection_.send(request);
    abort_.EndExchange();
    whole_ = result.error() == httplib::Error::Success;
    exchange_.outcome = OutcomeNow();
    return std::move(exchange_);
  }

  // True when the answer was read to its end, so that the connection can carry another call.
  bool reusable() const { return whole_; }

 private:
  // Called once the headers are out. The headers alone make nothing happen, so this is the last
  // moment at which the call can still be taken back.
  bool Send(size_t offset, size_t length, httplib::DataSink& sink) {
    if (!begun_) begun_ = abort_.BeginExchange([this] { connection_.stop(); });
    if (!begun_ || !sink.write(message_.data() + offset, length)) return false;
    if (offset + length == message_.size()) Flush();
    return true;
  }

  // Headers and message are written one after the other, and leave together: the gateway wakes
  // once.
  void Flush() {
    if (!corked_) return;
    for (const int on : {0, 1}) {
      setsockopt(connection_.socket(), IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
    }
  }

  bool Receive(absl::string_view bytes) {
    if (exchange_.head.content_type == "text/event-stream") {
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

  Exchange::Outcome OutcomeNow() {
    if (stream_done_ || bare_) return Exchange::Outcome::kAnswered;
    if (whole_) {
      return exchange_.head.content_type == "text/event-stream" ? Exchange::Outcome::kStreamEnded
                                                                : Exchange::Outcome::kAnswered;
    }
    if (abort_.aborted()) return Exchange::Outcome::kAborted;
    if (!begun_) return Exchange::Outcome::kNotSent;
    return too_large_ ? Exchange::Outcome::kTooLarge : Exchange::Outcome::kBroken;
  }

  httplib::Client& connection_;
  const bool corked_;
  const std::string& message_;
  AbortSwitch& abort_;
  const GatewayClient::EventSink& on_event_;
  SseParser events_;
  Exchange exchange_;
  bool begun_ = false;
  bool bare_ = false;
  bool stream_done_ = false;
  bool too_large_ = false;
  bool whole_ = false;
};

}  // namespace

absl::StatusOr<GatewayUrl> ParseGatewayUrl(absl::string_view text) {
  const size_t host = text.find("://");
  const absl::string_view scheme = text.substr(0, host);
  if (host == absl::string_view::npos || (scheme != "http" && scheme != "https")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--gateway \"", text, "\" is no URL; write for example http://127.0.0.1:7890"));
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

GatewayClient::GatewayClient(GatewayUrl url, TokenSource token_source, Clock* clock)
    : url_(std::move(url)),
      token_source_(std::move(token_source)),
      clock_(clock),
      token_(token_source_()) {}

GatewayClient::~GatewayClient() = default;

Exchange GatewayClient::Post(const std::string& message, const Headers& headers,
                             absl::Duration silence, AbortSwitch& abort,
                             const EventSink& on_event) {
  httplib::Request request;
  request.method = "POST";
  request.path = url_.path;
  request.headers = {{"Content-Type", "application/json"},
                     {"Accept", "application/json, text/event-stream"}};
  int token_generation = 0;
  for (const auto& [name, value] : Authorization(token_generation)) {
    request.headers.emplace(name, value);
  }
  for (const auto& [name, value] : headers) request.headers.emplace(name, value);
  std::unique_ptr<httplib::Client> connection = TakeConnection();
  SetSilence(*connection, silence);
  Exchanger exchanger(*connection, IsCorked(url_), message, abort, on_event);
  Exchange exchange = exchanger.Run(std::move(request));
  exchange.token_generation = token_generation;
  if (exchanger.reusable()) KeepConnection(std::move(connection));
  return exchange;
}

Exchange GatewayClient::Ask(const std::string& method, const std::string& path,
                            const Headers& headers, absl::Duration timeout) {
  Exchange exchange;
  httplib::Request request;
  request.method = method;
  request.path = path;
  for (const auto& [name, value] : Authorization(exchange.token_generation)) {
    request.headers.emplace(name, value);
  }
  for (const auto& [name, value] : headers) request.headers.emplace(name, value);
  httplib::Client connection(url_.origin);
  connection.set_connection_timeout(absl::ToChronoMicroseconds(timeout / 2));
  SetSilence(connection, timeout / 2);
  if (const httplib::Result result = connection.send(request)) {
    exchange.outcome = Exchange::Outcome::kAnswered;
    exchange.head = HeadOf(*result);
    exchange.body = result->body;
  }
  return exchange;
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

Headers GatewayClient::Authorization(int& token_generation) {
  MutexLock lock(&mutex_);
  token_generation = token_generation_;
  if (token_.empty()) return {};
  return {{"Authorization", absl::StrCat("Bearer ", token_)}};
}

std::unique_ptr<httplib::Client> GatewayClient::TakeConnection() {
  const absl::Time oldest = clock_->Now() - kMaxIdleConnection;
  std::vector<Idle> stale;  // Closed after the lock is released.
  {
    MutexLock lock(&mutex_);
    if (!idle_.empty() && idle_.back().since >= oldest) {
      std::unique_ptr<httplib::Client> connection = std::move(idle_.back().connection);
      idle_.pop_back();
      return connection;
    }
    stale.swap(idle_);
  }
  auto connection = std::make_unique<httplib::Client>(url_.origin);
  connection->set_keep_alive(true);
  connection->set_socket_options([corked = IsCorked(url_)](socket_t socket) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (corked) setsockopt(socket, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
  });
  connection->set_connection_timeout(absl::ToChronoMicroseconds(kConnectTimeout));
  return connection;
}

void GatewayClient::KeepConnection(std::unique_ptr<httplib::Client> connection) {
  const absl::Time now = clock_->Now();
  MutexLock lock(&mutex_);
  idle_.push_back({std::move(connection), now});
}

}  // namespace callslip::bridge
