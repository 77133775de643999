#include "gateway/http/http_codec.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/buffer.hpp"
#include "boost/beast/http.hpp"
#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

// Bodies pass through the buffer in pieces of at most this size. A header block must fit as a
// whole,
constexpr size_t kMaxBufferBytes = RequestParser::kMaxReadBytes;
// and so must the extensions and trailers of chunks, which could otherwise grow without bound.
constexpr size_t kMaxChunkHeadBytes = 1 << 10;
// For bodies of unknown length.
constexpr size_t kChunkedReadBytes = 16 << 10;

HttpResponse TooManyHeaders(const HttpLimits& limits) {
  return ErrorResponse(431, "too_many_headers",
                       absl::StrCat("There are more than ", limits.header_count, " headers."),
                       "Send fewer headers.");
}

HttpResponse BadTarget() {
  return ErrorResponse(400, "bad_target", "The request target is malformed.",
                       "Percent-encode path and query as UTF-8.");
}

HttpResponse DoubledHeader(absl::string_view name) {
  return ErrorResponse(400, "doubled_header",
                       absl::StrCat("There is more than one header ", name, "."),
                       "Send it once: a proxy may have evaluated another one.");
}

HttpResponse BadTransferEncoding() {
  return ErrorResponse(400, "bad_transfer_encoding",
                       "The only Transfer-Encoding is `chunked`, once, with HTTP/1.1.",
                       "Send the body so, or with Content-Length.");
}

// The headers that decide who requests what, and where a request ends.
constexpr std::array<absl::string_view, 5> kSingleHeaders = {"host", "origin", "authorization",
                                                             "content-type", "transfer-encoding"};

HttpResponse BodyTooLarge(uint64_t limit) {
  return ErrorResponse(413, "body_too_large",
                       absl::StrCat("The body is larger than ", limit, " bytes."),
                       "Send less, or store the data elsewhere and send a reference.");
}

HttpResponse BadRequest(beast::error_code error, const HttpLimits& limits) {
  if (error == http::error::header_limit) {
    return ErrorResponse(
        431, "headers_too_large",
        absl::StrCat("The headers are larger than ", limits.header_bytes, " bytes."),
        "Send fewer or shorter headers.");
  }
  return ErrorResponse(400, "bad_http", absl::StrCat("This is not valid HTTP: ", error.message()),
                       "Check the request line, the headers and Content-Length.");
}

}  // namespace

// Fills the request from the parser's callbacks. The parser fixes the names of the functions.
struct RequestParser::State final : http::basic_parser<true> {
  using Error = beast::error_code;
  using Text = beast::string_view;

  explicit State(const HttpLimits& http_limits)
      : limits(http_limits), request(std::make_shared<HttpRequest>()) {
    header_limit(limits.header_bytes);
    body_limit(limits.body_bytes);
    max_body = limits.body_bytes;
  }

  void on_request_impl(http::verb, Text method, Text request_target, int version, Error&) override {
    request->method.assign(method.data(), method.size());
    target.assign(request_target.data(), request_target.size());
    is_http_1_0 = version < 11;
  }
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(http::field, Text name, Text value, Error&) override {
    // Trailers come after the head and are ignored.
    if (is_header_done()) return;
    ++headers;
    const auto [entered, is_first] = request->headers.try_emplace(
        absl::AsciiStrToLower(absl::string_view(name.data(), name.size())), value.data(),
        value.size());
    if (is_first) return;
    if (absl::c_linear_search(kSingleHeaders, entered->first)) doubled = entered->first;
    if (entered->second == absl::string_view(value.data(), value.size())) return;
    absl::StrAppend(&entered->second, entered->first == "cookie" ? "; " : ",",
                    absl::string_view(value.data(), value.size()));
  }
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, Error&) override {}
  size_t on_body_impl(Text piece, Error&) override {
    request->body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(uint64_t size, Text, Error& error) override {
    if (size > max_body - request->body.size()) {
      error = http::error::body_limit;
    } else {
      announced = request->body.size() + size;
    }
  }
  size_t on_chunk_body_impl(uint64_t, Text piece, Error& error) override {
    return on_body_impl(piece, error);
  }
  void on_finish_impl(Error&) override {}

  Next Refuse(HttpResponse response) {
    refusal = std::move(response);
    return Next::kRefuse;
  }

  Next TakeHead() {
    if (!ParseTarget(target, *request)) return Refuse(BadTarget());
    if (headers > limits.header_count) return Refuse(TooManyHeaders(limits));
    if (!doubled.empty()) return Refuse(DoubledHeader(doubled));
    // With any other encoding the parser would not recognize the body, and would parse it as the
    // next request.
    const auto encoding = request->headers.find("transfer-encoding");
    if (encoding != request->headers.end() &&
        (is_http_1_0 || !absl::EqualsIgnoreCase(encoding->second, "chunked"))) {
      return Refuse(BadTransferEncoding());
    }
    const bool waits = absl::EqualsIgnoreCase(request->Header("expect"), "100-continue");
    return waits ? Next::kContinue : Next::kRead;
  }

  const HttpLimits& limits;
  std::shared_ptr<HttpRequest> request;
  std::string target;
  bool is_http_1_0 = false;
  uint64_t max_body = 0;
  uint64_t announced = 0;  // The body's size including the last chunk that has begun.
  int headers = 0;
  std::string doubled;  // A header that may appear once but has appeared twice.
  std::optional<HttpResponse> refusal;
};

RequestParser::RequestParser(const HttpLimits& limits) : state_(std::make_unique<State>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;

RequestParser::Next RequestParser::Parse(std::string& received) {
  State& parser = *state_;
  Next next = Next::kRead;
  // The head and the body are parsed separately, although they often arrive together.
  while (!parser.is_done() && !received.empty()) {
    const bool had_head = parser.is_header_done();
    beast::error_code error;
    received.erase(0, parser.put(boost::asio::buffer(received), error));
    if (error == http::error::body_limit) return parser.Refuse(BodyTooLarge(parser.max_body));
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
  if (received.size() >= (parser.is_header_done() ? kMaxChunkHeadBytes : kMaxBufferBytes)) {
    return state_->Refuse(BadRequest(http::error::buffer_overflow, state_->limits));
  }
  return next;
}

size_t RequestParser::ReadSize() const {
  if (!HasHead()) return kFirstReadBytes;
  const uint64_t rest = state_->content_length_remaining().value_or(kChunkedReadBytes);
  return std::clamp<uint64_t>(rest, kFirstReadBytes, kMaxBufferBytes);
}

bool RequestParser::HasHead() const { return state_->is_header_done(); }

const std::shared_ptr<HttpRequest>& RequestParser::head() const { return state_->request; }

RequestParser::Next RequestParser::LimitBody(uint64_t bytes) {
  State& parser = *state_;
  parser.max_body = std::min(parser.max_body, bytes);
  if (body_bytes() > parser.max_body) return parser.Refuse(BodyTooLarge(parser.max_body));
  return Next::kRead;
}

void RequestParser::ReserveBody() {
  if (!state_->chunked()) state_->request->body.reserve(body_bytes());
}

uint64_t RequestParser::body_bytes() const {
  const State& parser = *state_;
  return parser.chunked() ? parser.announced : parser.content_length().value_or(0);
}

HttpResponse RequestParser::TakeRefusal() { return *std::move(state_->refusal); }

std::shared_ptr<HttpRequest> RequestParser::TakeRequest() { return std::move(state_->request); }

ConnectionOptions RequestParser::options() const {
  return {.is_http_1_0 = state_->is_http_1_0, .keep_alive = state_->keep_alive()};
}

std::string ResponseHead(const HttpResponse& response, const ConnectionOptions& options,
                         Framing framing) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  std::string head;
  head.reserve(256);
  absl::StrAppend(&head, options.is_http_1_0 ? "HTTP/1.0 " : "HTTP/1.1 ", response.status, " ",
                  absl::string_view(reason.data(), reason.size()), "\r\n");
  if (!response.body.empty() || framing != Framing::kLength) {
    absl::StrAppend(&head, "Content-Type: ", response.content_type, "\r\n");
  }
  // Keeps browsers from treating a response as another type, a script in particular.
  head += "X-Content-Type-Options: nosniff\r\n";
  for (const auto& [name, value] : response.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  // Each version has its own default.
  if (options.keep_alive && options.is_http_1_0) head += "Connection: keep-alive\r\n";
  if (!options.keep_alive && !options.is_http_1_0) head += "Connection: close\r\n";
  if (framing == Framing::kChunks) head += "Transfer-Encoding: chunked\r\n";
  if (framing == Framing::kLength && response.status != 204 && response.status != 304) {
    absl::StrAppend(&head, "Content-Length: ", response.body.size(), "\r\n");
  }
  head += "\r\n";
  return head;
}

std::string Chunk(absl::string_view piece) {
  return absl::StrCat(absl::Hex(piece.size()), "\r\n", piece, "\r\n");
}

}  // namespace callslip::gateway
