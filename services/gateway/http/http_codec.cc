#include "gateway/http/http_codec.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/buffer.hpp"
#include "boost/beast/core/string.hpp"
#include "boost/beast/http.hpp"
#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

// Bodies pass through the buffer in pieces of at most this size. What must fit as a whole is a
// header block, and the extensions and trailers of chunks, which would otherwise be gathered
// without bound.
constexpr size_t kMaxBufferBytes = RequestParser::kMaxReadBytes;
// For bodies of unknown length.
constexpr size_t kChunkedReadBytes = 16 << 10;

HttpResponse TooManyHeaders(const HttpLimits& limits) {
  return ErrorResponse(431, "too_many_headers",
                       absl::StrCat("There are more than ", limits.header_count, " headers."),
                       "Send fewer headers.");
}

HttpResponse BadTarget() {
  return ErrorResponse(400, "bad_target", "The request target or the Host header is malformed.",
                       "Percent-encode path and query as UTF-8, and send one Host.");
}

HttpResponse BadRequest(beast::error_code error, const HttpLimits& limits) {
  if (error == http::error::body_limit) {
    return ErrorResponse(413, "body_too_large",
                         absl::StrCat("The body is larger than ", limits.body_bytes, " bytes."),
                         "Send less, or store the data elsewhere and send a reference.");
  }
  if (error == http::error::header_limit) {
    return ErrorResponse(
        431, "headers_too_large",
        absl::StrCat("The headers are larger than ", limits.header_bytes, " bytes."),
        "Send fewer or shorter headers.");
  }
  return ErrorResponse(400, "bad_http", absl::StrCat("This is no valid HTTP: ", error.message()),
                       "Check the request line, the headers and Content-Length.");
}

}  // namespace

struct RequestParser::State {
  explicit State(const HttpLimits& http_limits)
      : limits(http_limits), request(std::make_shared<HttpRequest>()) {
    parser.header_limit(limits.header_bytes);
    parser.body_limit(limits.body_bytes);
  }

  Next Refuse(HttpResponse response) {
    refusal = std::move(response);
    return Next::kRefuse;
  }

  // Trailers come after it, and are ignored.
  Next TakeHead() {
    const auto& message = parser.get();
    const auto method = message.method_string();
    request->method.assign(method.data(), method.size());
    const auto target = message.target();
    if (!ParseTarget(absl::string_view(target.data(), target.size()), *request)) {
      return Refuse(BadTarget());
    }
    int count = 0;
    int hosts = 0;
    for (const auto& field : message) {
      if (++count > limits.header_count) return Refuse(TooManyHeaders(limits));
      // With two of them, whoever stands between us and the peer may have checked the other one.
      if (field.name() == http::field::host && ++hosts > 1) return Refuse(BadTarget());
      std::string name(field.name_string());
      absl::AsciiStrToLower(&name);
      request->headers.emplace(std::move(name), std::string(field.value()));
    }
    const bool waits = beast::iequals(message[http::field::expect], "100-continue");
    return waits ? Next::kContinue : Next::kRead;
  }

  const HttpLimits& limits;
  http::request_parser<http::string_body> parser;
  std::shared_ptr<HttpRequest> request;
  HttpResponse refusal;
};

RequestParser::RequestParser(const HttpLimits& limits) : state_(std::make_unique<State>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;

RequestParser::Next RequestParser::Parse(std::string& received) {
  auto& parser = state_->parser;
  Next next = Next::kRead;
  // The head and the body are taken one after the other, though they often come together.
  while (!parser.is_done() && !received.empty()) {
    const bool had_head = parser.is_header_done();
    beast::error_code error;
    received.erase(0, parser.put(boost::asio::buffer(received), error));
    if (error && error != http::error::need_more) {
      return state_->Refuse(BadRequest(error, state_->limits));
    }
    if (!had_head && parser.is_header_done()) {
      next = state_->TakeHead();
      if (next == Next::kRefuse) return next;
      parser.eager(true);
    } else if (error == http::error::need_more) {
      break;
    }
  }
  if (parser.is_done()) return Next::kDone;
  if (received.size() >= kMaxBufferBytes) {
    return state_->Refuse(BadRequest(http::error::buffer_overflow, state_->limits));
  }
  return next;
}

size_t RequestParser::ReadSize() const {
  if (!HasHead()) return kFirstReadBytes;
  const uint64_t rest = state_->parser.content_length_remaining().value_or(kChunkedReadBytes);
  return std::clamp<uint64_t>(rest, kFirstReadBytes, kMaxBufferBytes);
}

bool RequestParser::HasHead() const { return state_->parser.is_header_done(); }

HttpResponse RequestParser::TakeRefusal() { return std::move(state_->refusal); }

std::shared_ptr<HttpRequest> RequestParser::TakeRequest() {
  state_->request->body = std::move(state_->parser.get().body());
  return std::move(state_->request);
}

ConnectionOptions RequestParser::options() const {
  const auto& message = state_->parser.get();
  return {.is_http_1_0 = message.version() < 11, .keep_alive = message.keep_alive()};
}

std::string ResponseHead(const HttpResponse& response, const ConnectionOptions& options,
                         Framing framing) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  std::string head = absl::StrCat(options.is_http_1_0 ? "HTTP/1.0 " : "HTTP/1.1 ", response.status,
                                  " ", absl::string_view(reason.data(), reason.size()), "\r\n");
  if (!response.body.empty() || framing != Framing::kLength) {
    absl::StrAppend(&head, "Content-Type: ", response.content_type, "\r\n");
  }
  for (const auto& [name, value] : response.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  // Each version has its own default.
  if (options.keep_alive && options.is_http_1_0) head += "Connection: keep-alive\r\n";
  if (!options.keep_alive && !options.is_http_1_0) head += "Connection: close\r\n";
  if (framing == Framing::kChunks) head += "Transfer-Encoding: chunked\r\n";
  if (framing == Framing::kLength && response.status != 204) {
    absl::StrAppend(&head, "Content-Length: ", response.body.size(), "\r\n");
  }
  head += "\r\n";
  return head;
}

std::string Chunk(absl::string_view piece) {
  return absl::StrCat(absl::Hex(piece.size()), "\r\n", piece, "\r\n");
}

}  // namespace callslip::gateway
