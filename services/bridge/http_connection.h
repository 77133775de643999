#ifndef CALLSLIP_BRIDGE_HTTP_CONNECTION_H_
#define CALLSLIP_BRIDGE_HTTP_CONNECTION_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

using SSL = struct ssl_st;

namespace callslip::bridge {

// What an `http://` or `https://` origin connects to.
struct Endpoint {
  bool is_tls = false;
  std::string host;  // A name or an address; IPv6 without its brackets.
  std::string port;
};

// The endpoint of an origin, `scheme://host[:port]`.
Endpoint EndpointOf(absl::string_view origin);

// A TCP connection, with TLS where the endpoint asks for it, that carries bytes. Its calls block,
// and the kernel bounds each of them, so that an exchange costs no more than its sends and
// receives. Used by one thread, Shutdown() excepted.
class HttpConnection {
 public:
  // Connects; nullptr where that fails. Each step, the TLS handshake included, takes `timeout` at
  // most, resolving the host's name excepted. A TLS peer needs a certificate for the host that the
  // system trusts.
  static std::unique_ptr<HttpConnection> Connect(const Endpoint& endpoint, absl::Duration timeout);
  ~HttpConnection();

  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // False where the peer has closed the connection, or sent what nobody has asked for.
  bool IsQuiet() const;

  // No single send or receive blocks for longer than this, rounded up to seconds: the calls of one
  // class then share a setting, and a kept connection is set once.
  void SetSilence(absl::Duration silence);

  // Sends both, one after the other and in one packet where they fit.
  bool Send(absl::string_view head, absl::string_view body);

  // The number of bytes that were received; 0 at the end, less than 0 where there are none.
  ssize_t Receive(char* bytes, size_t size);

  // Ends what is being sent or received now, and all that comes. Thread-safe, does not block.
  void Shutdown();

 private:
  explicit HttpConnection(int fd) : fd_(fd) {}
  bool StartTls(const std::string& host);
  bool SendPlain(absl::string_view head, absl::string_view body);

  const int fd_;
  SSL* ssl_ = nullptr;  // Set for TLS.
  int64_t silence_seconds_ = 0;
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_HTTP_CONNECTION_H_
