#include "common/rpc_credentials.h"

#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_certificate_verifier.h"
#include "grpcpp/security/tls_credentials_options.h"

namespace callslip {
namespace {

constexpr unsigned kLookEverySeconds = 1;

std::shared_ptr<grpc::experimental::FileWatcherCertificateProvider> Watch(const TlsFiles& tls) {
  return std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      tls.key, tls.certificate, tls.authorities, kLookEverySeconds);
}

grpc::experimental::TlsChannelCredentialsOptions ChannelOptions(const TlsFiles& tls) {
  grpc::experimental::TlsChannelCredentialsOptions options;
  if (!tls.certificate.empty() || !tls.authorities.empty()) {
    options.set_certificate_provider(Watch(tls));
  }
  if (!tls.certificate.empty()) options.watch_identity_key_cert_pairs();
  return options;
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const std::optional<TlsFiles>& tls) {
  if (!tls.has_value()) return grpc::InsecureServerCredentials();
  grpc::experimental::TlsServerCredentialsOptions options(Watch(*tls));
  options.watch_identity_key_cert_pairs();
  if (!tls->authorities.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const std::optional<TlsFiles>& tls) {
  if (!tls.has_value()) return grpc::InsecureChannelCredentials();
  auto options = ChannelOptions(*tls);
  if (!tls->authorities.empty()) options.watch_root_certs();
  return grpc::experimental::TlsCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> OwnChannelCredentials(
    const std::optional<TlsFiles>& tls) {
  if (!tls.has_value()) return grpc::InsecureChannelCredentials();
  TlsFiles own = *tls;
  own.authorities.clear();
  auto options = ChannelOptions(own);
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(std::make_shared<grpc::experimental::NoOpCertificateVerifier>());
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace callslip
