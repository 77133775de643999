#ifndef CALLSLIP_HTTP_CLIENT_HTTP_CONNECTION_H_
#define CALLSLIP_HTTP_CLIENT_HTTP_CONNECTION_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/name_lookup.h"
#include "tls/client_tls.h"
#include "tls/openssl.h"

namespace callslip {

// What an origin connects to.
struct Endpoint {
  bool is_tls = false;
  std::string host;  // A name or an address; IPv6 without its brackets.
  std::string port;
  std::string unix_path;                 // Of a socket in the file system, instead of both.
  std::shared_ptr<const ClientTls> tls;  // For `is_tls`.
  std::shared_ptr<NameLookup> lookup;    // Of host and port, shared by all that connect.

  // True where only this machine sees what is sent, or nobody but the peer.
  bool IsPrivate() const;
};

// The endpoint of an origin, `http://host[:port]`, `https://host[:port]` or `unix:path`; without
// its `tls`.
Endpoint EndpointOf(absl::string_view origin);

// A connection over TCP or a Unix-domain socket, with TLS where the endpoint asks for it, that
// carries bytes. Its calls block, and the kernel bounds each of them, so that an exchange costs no
// more than its sends and receives. Used by one thread, Shutdown() excepted.
class HttpConnection {
 public:
  // Connects; UNAVAILABLE with the reason where that fails. Each step takes `timeout` at most; a
  // slow look-up of the name goes on for the next attempt. A TLS peer needs a certificate for the
  // host.
  static absl::StatusOr<std::unique_ptr<HttpConnection>> Connect(const Endpoint& endpoint,
                                                                 absl::Duration timeout);
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
  bool SendPlain(absl::string_view head, absl::string_view body);
  bool SendTls(absl::string_view bytes);

  const int fd_;
  SslPtr tls_;  // Null: without.
  int64_t silence_seconds_ = 0;
};

}  // namespace callslip

#endif  // CALLSLIP_HTTP_CLIENT_HTTP_CONNECTION_H_
