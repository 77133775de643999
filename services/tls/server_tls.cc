#include "tls/server_tls.h"

#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "openssl/err.h"
#include "openssl/x509.h"

namespace callslip {
namespace {

// The only protocol over this TLS, in ALPN's format: preceded by its length.
constexpr unsigned char kProtocols[] = "\x8http/1.1";

// A client that offers only other protocols would not understand the response.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                   const unsigned char* offered, unsigned int offered_size, void*) {
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(&found, chosen_size, kProtocols, sizeof(kProtocols) - 1,
                                           offered, offered_size);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

absl::Status AskForCertificates(SSL_CTX* context, const std::string& client_ca) {
  STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(client_ca.c_str());
  if (names == nullptr || SSL_CTX_load_verify_file(context, client_ca.c_str()) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return absl::InvalidArgumentError(absl::StrCat(
        "--tls-client-ca ", client_ca, " holds no certificate in PEM: ", TakeOpenSslError()));
  }
  SSL_CTX_set_client_CA_list(context, names);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  // A client that resumes a session shows no certificate, even if it has expired since.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  return absl::OkStatus();
}

absl::StatusOr<SslContextPtr> MakeContext(const TlsFiles& files) {
  SslContextPtr context = NewTlsContext(TLS_server_method());
  RETURN_IF_ERROR(UseCertificate(context.get(), files.certificate, files.key));
  if (!files.authorities.empty()) {
    RETURN_IF_ERROR(AskForCertificates(context.get(), files.authorities));
  }
  // Resumption state is in the clients' tickets and takes no memory here.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context.get(), ChooseProtocol, nullptr);
  // Each record without data costs one turn of the event loop, so that a peer that sends many of
  // them does not hold up others.
  SSL_CTX_clear_mode(context.get(), SSL_MODE_AUTO_RETRY);
  return context;
}

// "2026-11-22T19:00:00+00:00"; empty if the certificate has no end date.
std::string EndOf(SSL_CTX* context) {
  std::tm end = {};
  const X509* certificate = SSL_CTX_get0_certificate(context);
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) {
    return "";
  }
  return absl::FormatTime(absl::FromTM(end, absl::UTCTimeZone()), absl::UTCTimeZone());
}

void LogTaken(const TlsFiles& files, SSL_CTX* context) {
  const bool is_over =
      X509_cmp_current_time(X509_get0_notAfter(SSL_CTX_get0_certificate(context))) < 0;
  Log(is_over ? LogLevel::kError : LogLevel::kInfo,
      is_over ? "certificate taken, but it has run out" : "certificate taken",
      {{"tls_cert", files.certificate}, {"valid_until", EndOf(context)}});
}

}  // namespace

absl::Status CheckServerFiles(const TlsFiles& files) {
  if (files.certificate.empty() != files.key.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key need each other: set both or none");
  }
  if (files.certificate.empty() && !files.authorities.empty()) {
    return absl::InvalidArgumentError("--tls-client-ca needs --tls-cert and --tls-key");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<ServerTls>> ServerTls::Load(const TlsFiles& files,
                                                           absl::Duration every) {
  RETURN_IF_ERROR(CheckServerFiles(files));
  ASSIGN_OR_RETURN(SslContextPtr context, MakeContext(files));
  return std::shared_ptr<ServerTls>(new ServerTls(files, std::move(context), every));
}

ServerTls::ServerTls(const TlsFiles& files, SslContextPtr context, absl::Duration every)
    : files_(files),
      context_(std::move(context)),
      watch_(
          {files.certificate, files.key, files.authorities}, [this] { Reload(); }, every) {}

SslPtr ServerTls::NewSession() const {
  MutexLock lock(&mutex_);
  SslPtr session(SSL_new(context_.get()));
  if (session != nullptr) SSL_set_accept_state(session.get());
  return session;
}

void ServerTls::Reload() {
  absl::StatusOr<SslContextPtr> context = MakeContext(files_);
  if (!context.ok()) {
    Log(LogLevel::kError, "certificate not loaded; the previous one stays in use",
        {{"reason", std::string(context.status().message())}});
    return;
  }
  LogTaken(files_, context->get());
  MutexLock lock(&mutex_);
  context_ = *std::move(context);
}

}  // namespace callslip
