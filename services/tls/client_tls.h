#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/tls_files.h"
#include "tls/openssl.h"

namespace callslip {

// The TLS configuration of a client's connections. Thread-safe.
class ClientTls {
 public:
  // Reads the files once. INVALID_ARGUMENT, naming the flag, if that fails.
  static absl::StatusOr<std::shared_ptr<const ClientTls>> Load(const TlsFiles& files);

  // Accepts any certificate: for requests whose answer nothing relies on.
  static std::shared_ptr<const ClientTls> Unverified();

  // Performs the handshake over the connected, blocking socket `fd`, whose timeouts bound each
  // step. UNAVAILABLE with the reason if the server has no certificate for `host`, a name or an
  // address, from one of the authorities, or its TLS is incompatible.
  absl::StatusOr<SslPtr> Connect(int fd, const std::string& host) const;

 private:
  explicit ClientTls(SslContextPtr context) : context_(std::move(context)) {}

  const SslContextPtr context_;
};

}  // namespace callslip
