#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "gateway/http/http_limits.h"
#include "gateway/http/http_message.h"

// HTTP/1.1 as bytes, without a socket. Hides Boost.Beast's parser.
namespace callslip::gateway {

// What a request asks of its connection, and what the response grants.
struct ConnectionOptions {
  bool is_http_1_0 = false;
  bool keep_alive = false;
};

// Parses one request from the bytes that arrive.
class RequestParser {
 public:
  enum class Next {
    kRead,      // Read at least one more byte, then parse again.
    kContinue,  // The same, and the peer waits for `100 Continue` before it sends more.
    kRefuse,    // Not a valid request: TakeRefusal(), then close the connection.
    kDone,      // TakeRequest().
  };

  // `limits` must outlive this.
  explicit RequestParser(const HttpLimits& limits);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;

  // Consumes what it can use from the front of `received`, which must not be empty.
  Next Parse(std::string& received);

  // The maximum number of bytes to read next.
  size_t ReadSize() const;
  // True once the head is complete and the body is expected.
  bool HasHead() const;
  // The request without the rest of its body. Requires HasHead().
  const std::shared_ptr<HttpRequest>& head() const;
  // Limits the body to `bytes`. kRefuse if the declared length is larger, else kRead; a body that
  // turns out to be larger is refused later. Call once, after HasHead().
  Next LimitBody(uint64_t bytes);
  // Reserves memory for the whole body. Call after HasHead(), once the budget allows it.
  void ReserveBody();
  // The length of the body; of a chunked one, including the chunks that have begun.
  uint64_t body_bytes() const;

  // 400, 413, or 431.
  HttpResponse TakeRefusal();
  std::shared_ptr<HttpRequest> TakeRequest();
  ConnectionOptions options() const;

  // The size of the first read of a request.
  static constexpr size_t kFirstReadBytes = 1024;
  // The maximum size of a read.
  static constexpr size_t kMaxReadBytes = 64 << 10;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How the end of a body is marked. HTTP/1.0 has no chunks: there a stream ends with its connection.
enum class Framing { kLength, kChunks, kClose };

// The status line and the headers of `response`, including the empty line.
std::string ResponseHead(const HttpResponse& response, const ConnectionOptions& options,
                         Framing framing);

// A piece of a body in chunked transfer coding. An empty piece ends the body.
std::string Chunk(absl::string_view piece);

}  // namespace callslip::gateway
