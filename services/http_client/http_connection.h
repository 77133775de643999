#pragma once

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

// Where to connect for an origin.
struct Endpoint {
  bool is_tls = false;
  std::string host;  // A name or an address; IPv6 without its brackets.
  std::string port;
  std::string unix_path;                 // The path of a Unix-domain socket, instead of both.
  std::shared_ptr<const ClientTls> tls;  // Used if `is_tls`.
  std::shared_ptr<NameLookup> lookup;    // For host and port, shared by all connections.

  // Whether only this machine or only the peer can see the traffic.
  bool IsPrivate() const;
};

// The endpoint of an origin, `http://host[:port]`, `https://host[:port]` or `unix:path`; `tls` is
// not set.
Endpoint EndpointOf(absl::string_view origin);

// A byte connection over TCP or a Unix-domain socket, with TLS if the endpoint requires it. Its
// calls block, and the kernel enforces their timeouts, so that an exchange costs no more than its
// sends and receives. Not thread-safe: use on one thread, except Shutdown().
class HttpConnection {
 public:
  // Connects; UNAVAILABLE with the reason if that fails. Each step takes at most `timeout`; a slow
  // name lookup continues for the next attempt. A TLS peer needs a certificate for the host.
  static absl::StatusOr<std::unique_ptr<HttpConnection>> Connect(const Endpoint& endpoint,
                                                                 absl::Duration timeout);
  ~HttpConnection();

  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // False if the peer has closed the connection or sent unsolicited data.
  bool IsQuiet() const;

  // Limits how long a single send or receive blocks, rounded up to seconds, so that the calls of
  // one class share a setting and a kept connection is set only once.
  void SetSilence(absl::Duration silence);

  // Sends both in order, in one packet if they fit.
  bool Send(absl::string_view head, absl::string_view body);

  // Returns the number of bytes received; 0 at the end, negative on failure.
  ssize_t Receive(char* bytes, size_t size);

  // Ends current and future sends and receives. Thread-safe. Does not block.
  void Shutdown();

 private:
  explicit HttpConnection(int fd) : fd_(fd) {}
  bool SendPlain(absl::string_view head, absl::string_view body);
  bool SendTls(absl::string_view bytes);

  const int fd_;
  SslPtr tls_;  // Null if without TLS.
  int64_t silence_seconds_ = 0;
};

}  // namespace callslip
