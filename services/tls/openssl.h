#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "openssl/ssl.h"

// RAII wrappers for OpenSSL's objects, and its errors as statuses.
namespace callslip {

struct OpenSslDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
// The configuration for sessions: protocol versions, ciphers, certificates.
using SslContextPtr = std::unique_ptr<SSL_CTX, OpenSslDeleter>;
// The TLS session with one peer.
using SslPtr = std::unique_ptr<SSL, OpenSslDeleter>;
using X509Ptr = std::unique_ptr<X509, OpenSslDeleter>;
using BioPtr = std::unique_ptr<BIO, OpenSslDeleter>;

// TLS 1.2 with forward secrecy and authenticated encryption, or TLS 1.3; no compression and no
// renegotiation. `method` is TLS_server_method() or TLS_client_method().
SslContextPtr NewTlsContext(const SSL_METHOD* method);

// Loads the certificate (with its chain) and the key from two PEM files into `context`.
// INVALID_ARGUMENT, naming the flag, if one cannot be read, the key is encrypted, or they do not
// match.
absl::Status UseCertificate(SSL_CTX* context, const std::string& certificate_file,
                            const std::string& key_file);

// Lets the session use the socket `fd`, which it does not own. A disconnected peer causes an error,
// not a signal.
void UseSocket(SSL* session, int fd);

// The alternative names in the peer's verified certificate: DNS names, URIs, e-mail addresses and
// IP addresses, the latter as text. Empty if there is no such certificate.
std::vector<std::string> PeerNames(const SSL* session);

// A readable reason for the last OpenSSL failure on this thread; empties its error queue.
std::string TakeOpenSslError();

}  // namespace callslip
