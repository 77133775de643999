#ifndef CALLSLIP_TLS_CLIENT_TLS_H_
#define CALLSLIP_TLS_CLIENT_TLS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/tls_files.h"
#include "tls/openssl.h"

namespace callslip {

// The TLS of a client's connections. Thread-safe.
class ClientTls {
 public:
  // Reads the files, once. INVALID_ARGUMENT, which names the flag, where that is not possible.
  static absl::StatusOr<std::shared_ptr<const ClientTls>> Load(const TlsFiles& files);

  // Believes any certificate: for a question whose answer nobody relies on.
  static std::shared_ptr<const ClientTls> Unverified();

  // Makes a session over the connected socket `fd`, which blocks: each step may take as long as its
  // timeouts let it. UNAVAILABLE with the reason where the server is not `host`, a name or an
  // address, by a certificate of one of the authorities, or speaks no TLS as we do.
  absl::StatusOr<SslPtr> Connect(int fd, const std::string& host) const;

 private:
  explicit ClientTls(SslContextPtr context) : context_(std::move(context)) {}

  const SslContextPtr context_;
};

}  // namespace callslip

#endif  // CALLSLIP_TLS_CLIENT_TLS_H_
