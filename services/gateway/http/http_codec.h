#ifndef CALLSLIP_GATEWAY_HTTP_HTTP_CODEC_H_
#define CALLSLIP_GATEWAY_HTTP_HTTP_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "gateway/http/http_limits.h"
#include "gateway/http/http_message.h"

// HTTP/1.1 as bytes, without a socket. Boost.Beast's parser stays behind it.
namespace callslip::gateway {

// What a request asks of its connection, and what of that the answer grants.
struct ConnectionOptions {
  bool is_http_1_0 = false;
  bool keep_alive = false;
};

// Makes one request of the bytes that arrive.
class RequestParser {
 public:
  enum class Next {
    kRead,      // Read at least one byte more, then parse again.
    kContinue,  // The same, and the peer waits for `100 Continue` before it sends them.
    kRefuse,    // This is no request: TakeRefusal(), then close the connection.
    kDone,      // TakeRequest().
  };

  // `limits` must outlive it.
  explicit RequestParser(const HttpLimits& limits);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;

  // Takes what it can use from the front of `received`, which is not empty.
  Next Parse(std::string& received);

  // How many bytes to read next, at the most.
  size_t ReadSize() const;
  // From here on it is the body that is waited for.
  bool HasHead() const;
  // The request without the rest of its body. From then on.
  const std::shared_ptr<HttpRequest>& head() const;
  // That its body is at most so large. kRefuse where it is said to be larger, else kRead; refused
  // later where it turns out to be. From then on, once.
  Next LimitBody(uint64_t bytes);
  // Makes room for all of it. From then on, once there may be so much.
  void ReserveBody();
  // What the body will have; of one in chunks, with those that have begun.
  uint64_t body_bytes() const;

  // 400, 413 or 431.
  HttpResponse TakeRefusal();
  std::shared_ptr<HttpRequest> TakeRequest();
  ConnectionOptions options() const;

  // A request's first bytes.
  static constexpr size_t kFirstReadBytes = 1024;
  // No read is larger.
  static constexpr size_t kMaxReadBytes = 64 << 10;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How the end of a body is told. HTTP/1.0 knows no chunks: there a stream ends with its connection.
enum class Framing { kLength, kChunks, kClose };

// The status line and the headers of `response`, up to and with the empty line.
std::string ResponseHead(const HttpResponse& response, const ConnectionOptions& options,
                         Framing framing);

// A piece of a body in chunked transfer coding. An empty piece is the body's end.
std::string Chunk(absl::string_view piece);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_HTTP_CODEC_H_
