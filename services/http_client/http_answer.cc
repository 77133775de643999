#include "http_client/http_answer.h"

#include <sys/types.h>

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "auth/request_signature.h"

namespace callslip {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

absl::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

// The limit for the status line and headers of a response. The gateway's have some hundred bytes; a
// proxy in front of it can add its own.
constexpr int kMaxAnswerHeadBytes = 64 * 1024;

// The maximum to receive at a time. Nearly all responses fit.
constexpr size_t kReceiveBytes = size_t{16} * 1024;

// Beast's parser, without the header table of its own message class.
class Parser final : public http::basic_parser<false> {
 public:
  Parser(ResponseHead& head, const BodySink& on_body) : head_(head), on_body_(on_body) {
    eager(true);
    header_limit(kMaxAnswerHeadBytes);
    body_limit(boost::none);  // The sink enforces limits.
  }

  bool stopped() const { return stopped_; }

 private:
  using Error = beast::error_code;
  using Text = beast::string_view;

  void on_request_impl(http::verb, Text, Text, int, Error&) override {}
  void on_response_impl(int status, Text, int, Error&) override { head_ = {.status = status}; }
  void on_field_impl(http::field field, Text name, Text value, Error&) override {
    if (field == http::field::content_type) {
      const Text type = value.substr(0, value.find(';'));
      head_.content_type = absl::AsciiStrToLower(absl::StripAsciiWhitespace(View(type)));
    } else if (absl::EqualsIgnoreCase(View(name), "Mcp-Session-Id")) {
      head_.session_id = std::string(value);
    } else if (absl::EqualsIgnoreCase(View(name), kProofHeader)) {
      head_.proof = std::string(value);
    } else if (field == http::field::retry_after) {
      int seconds = 0;
      if (absl::SimpleAtoi(View(value), &seconds)) head_.retry_after_seconds = std::max(seconds, 0);
    }
  }
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text bytes, Error& error) override { return Take(bytes, error); }
  void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, Error& error) override {
    return Take(bytes, error);
  }
  void on_finish_impl(Error&) override {}

  std::size_t Take(Text bytes, Error& error) {
    stopped_ = !on_body_(head_, View(bytes));
    if (stopped_) error = http::error::end_of_stream;
    return bytes.size();
  }

  ResponseHead& head_;
  const BodySink& on_body_;
  bool stopped_ = false;
};

// Feeds the parser until it is done or must stop.
HttpAnswerEnd ReadOne(HttpConnection& connection, beast::flat_buffer& buffer,
                      const ResponseHead& head, Parser& parser) {
  while (true) {
    beast::error_code error;
    while (buffer.size() > 0 && !parser.is_done()) {
      const size_t used = parser.put(buffer.data(), error);
      buffer.consume(used);
      if (error || used == 0) break;
    }
    if (error && error != http::error::need_more) break;
    if (parser.is_done()) {
      return parser.keep_alive() ? HttpAnswerEnd::kWhole : HttpAnswerEnd::kLast;
    }
    if (parser.is_header_done() && parser.need_eof() && head.status == 202) {
      return HttpAnswerEnd::kLast;
    }
    const auto room = buffer.prepare(kReceiveBytes);
    const ssize_t count = connection.Receive(static_cast<char*>(room.data()), room.size());
    if (count > 0) {
      buffer.commit(static_cast<size_t>(count));
      continue;
    }
    if (count < 0 || !parser.got_some()) return HttpAnswerEnd::kBroken;
    parser.put_eof(error);
    return parser.is_done() ? HttpAnswerEnd::kLast : HttpAnswerEnd::kBroken;
  }
  return parser.stopped() ? HttpAnswerEnd::kStopped : HttpAnswerEnd::kBroken;
}

}  // namespace

HttpAnswerEnd ReadHttpAnswer(HttpConnection& connection, ResponseHead& head,
                             const BodySink& on_body) {
  beast::flat_buffer buffer;
  while (true) {
    Parser parser(head, on_body);
    const HttpAnswerEnd end = ReadOne(connection, buffer, head, parser);
    if (head.status >= 200 || head.status == 101 || end != HttpAnswerEnd::kWhole) return end;
  }
}

}  // namespace callslip
