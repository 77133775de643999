#ifndef CALLSLIP_TLS_OPENSSL_H_
#define CALLSLIP_TLS_OPENSSL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "openssl/ssl.h"

// OpenSSL's objects as values that clean up after themselves, and its errors as statuses.
namespace callslip {

struct OpenSslDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
// What sessions are made of: protocol versions, ciphers, certificates.
using SslContextPtr = std::unique_ptr<SSL_CTX, OpenSslDeleter>;
// One peer's TLS.
using SslPtr = std::unique_ptr<SSL, OpenSslDeleter>;
using X509Ptr = std::unique_ptr<X509, OpenSslDeleter>;
using BioPtr = std::unique_ptr<BIO, OpenSslDeleter>;

// TLS 1.2 with forward secrecy and authenticated encryption, or TLS 1.3; no compression and no
// renegotiation. `method` is TLS_server_method() or TLS_client_method().
SslContextPtr NewTlsContext(const SSL_METHOD* method);

// Gives `context` the certificate (with its chain) and the key in two PEM files. INVALID_ARGUMENT,
// which names the flag, where one cannot be read, the key is encrypted, or they do not belong
// together.
absl::Status UseCertificate(SSL_CTX* context, const std::string& certificate_file,
                            const std::string& key_file);

// Bytes over the socket `fd`, which stays its owner's. A peer that has left makes an error, and no
// signal.
void UseSocket(SSL* session, int fd);

// The alternative names of the certificate that the peer has shown, and that was checked: those of
// DNS, URIs, e-mail addresses and IP addresses, the latter as text. Empty where there is none.
std::vector<std::string> PeerNames(const SSL* session);

// What OpenSSL has to say of the last failure on this thread, for people; empties its queue.
std::string TakeOpenSslError();

}  // namespace callslip

#endif  // CALLSLIP_TLS_OPENSSL_H_
