#include "tls/client_tls.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/status_macros.h"
#include "openssl/err.h"
#include "openssl/x509v3.h"

namespace callslip {
namespace {

// Makes the handshake verify that the certificate is for `host`.
bool ExpectHost(SSL* session, const std::string& host) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1) return true;
  ERR_clear_error();
  return SSL_set1_host(session, host.c_str()) == 1 &&
         SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

absl::Status HandshakeFailed(SSL* session, absl::string_view host, int result, int error) {
  const long verified = SSL_get_verify_result(session);
  if (verified != X509_V_OK) {
    return absl::UnavailableError(absl::StrCat(
        "the certificate of ", host, " is not accepted: ", X509_verify_cert_error_string(verified),
        " (--tls-ca names a private authority)"));
  }
  const bool is_silent = SSL_get_error(session, result) == SSL_ERROR_WANT_READ;
  if (is_silent || (ERR_peek_error() == 0 && error == EAGAIN)) {
    return absl::UnavailableError(absl::StrCat(host, " did not answer in time over TLS"));
  }
  const std::string reason =
      ERR_peek_error() == 0 ? "it has closed the connection" : TakeOpenSslError();
  return absl::UnavailableError(absl::StrCat("no TLS with ", host, ": ", reason));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ClientTls>> ClientTls::Load(const TlsFiles& files) {
  if (files.certificate.empty() != files.key.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key need each other: set both or none");
  }
  SslContextPtr context = NewTlsContext(TLS_client_method());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (files.authorities.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else if (SSL_CTX_load_verify_file(context.get(), files.authorities.c_str()) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--tls-ca ", files.authorities, " holds no certificate in PEM: ", TakeOpenSslError()));
  }
  if (!files.certificate.empty()) {
    RETURN_IF_ERROR(UseCertificate(context.get(), files.certificate, files.key));
  }
  return std::shared_ptr<const ClientTls>(new ClientTls(std::move(context)));
}

std::shared_ptr<const ClientTls> ClientTls::Unverified() {
  return std::shared_ptr<const ClientTls>(new ClientTls(NewTlsContext(TLS_client_method())));
}

absl::StatusOr<SslPtr> ClientTls::Connect(int fd, const std::string& host) const {
  SslPtr session(SSL_new(context_.get()));
  if (session == nullptr || !ExpectHost(session.get(), host)) {
    return absl::UnavailableError(
        absl::StrCat("\"", host, "\" is not a host: ", TakeOpenSslError()));
  }
  UseSocket(session.get(), fd);
  ERR_clear_error();
  errno = 0;
  const int result = SSL_connect(session.get());
  if (result == 1) return session;
  return HandshakeFailed(session.get(), host, result, errno);
}

}  // namespace callslip
