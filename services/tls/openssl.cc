#include "tls/openssl.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/certificate_name.h"
#include "openssl/bio.h"
#include "openssl/err.h"
#include "openssl/x509v3.h"

namespace callslip {
namespace {

// The TLS 1.2 ciphers; all TLS 1.3 ciphers are good.
constexpr char kCiphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
// 112 bits: RSA keys of at least 2048 bits, and no SHA-1 signatures.
constexpr int kSecurityLevel = 2;

int FdOf(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

// Reports to OpenSSL whether the same call can succeed later.
int Told(BIO* bio, ssize_t result, int retry) {
  BIO_clear_retry_flags(bio);
  if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(result);
}

// Repeats `call` while a signal interrupts it.
template <typename Call>
ssize_t Uninterrupted(const Call& call) {
  ssize_t result = 0;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

int Receive(BIO* bio, char* bytes, int size) {
  const ssize_t received = Uninterrupted([&] { return recv(FdOf(bio), bytes, size, 0); });
  return Told(bio, received, BIO_FLAGS_READ);
}

int Send(BIO* bio, const char* bytes, int size) {
  const ssize_t sent = Uninterrupted([&] { return send(FdOf(bio), bytes, size, MSG_NOSIGNAL); });
  return Told(bio, sent, BIO_FLAGS_WRITE);
}

// Flushing succeeds because there is nothing to flush; all other commands are unknown.
long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

// OpenSSL's own BIO uses write(), which raises SIGPIPE when the peer has disconnected.
const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_read(made, Receive);
    BIO_meth_set_write(made, Send);
    BIO_meth_set_ctrl(made, Control);
    return made;
  }();
  return method;
}

// No one is there to enter a passphrase.
int NoPassphrase(char*, int, int, void*) { return -1; }

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressOf(const ASN1_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return "";
  inet_ntop(family, ASN1_STRING_get0_data(bytes), text, sizeof(text));
  return text;
}

// Empty if it is of another kind, or does not look like one of its kind.
std::string TextOf(const GENERAL_NAME* name) {
  const auto as = [](CertificateNameKind kind, std::string text) {
    return LooksLike(kind, text) ? text : "";
  };
  switch (name->type) {
    case GEN_DNS: return as(CertificateNameKind::kDns, TextOf(name->d.dNSName));
    case GEN_URI: return as(CertificateNameKind::kUri, TextOf(name->d.uniformResourceIdentifier));
    case GEN_EMAIL: return as(CertificateNameKind::kEmail, TextOf(name->d.rfc822Name));
    case GEN_IPADD: return as(CertificateNameKind::kIp, AddressOf(name->d.iPAddress));
    default: return "";
  }
}

}  // namespace

SslContextPtr NewTlsContext(const SSL_METHOD* method) {
  SslContextPtr context(SSL_CTX_new(method));
  SSL_CTX* const made = context.get();
  SSL_CTX_set_security_level(made, kSecurityLevel);
  SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(made, kCiphers);
  SSL_CTX_set_options(made, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // Idle sessions free their buffers, and a write can be continued from another buffer.
  SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                             SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_default_passwd_cb(made, NoPassphrase);
  return context;
}

absl::Status UseCertificate(SSL_CTX* context, const std::string& certificate_file,
                            const std::string& key_file) {
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--tls-cert ", certificate_file, " holds no certificate in PEM: ", TakeOpenSslError()));
  }
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-key ", key_file, " holds no key in PEM, without a passphrase, for ",
                     certificate_file, ": ", TakeOpenSslError()));
  }
  return absl::OkStatus();
}

void UseSocket(SSL* session, int fd) {
  BIO* const bio = BIO_new(SocketMethod());
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(session, bio, bio);
}

std::vector<std::string> PeerNames(const SSL* session) {
  std::vector<std::string> texts;
  const X509Ptr certificate(SSL_get1_peer_certificate(session));
  if (certificate == nullptr || SSL_get_verify_result(session) != X509_V_OK) return texts;
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    std::string text = TextOf(sk_GENERAL_NAME_value(names, i));
    if (!text.empty()) texts.push_back(std::move(text));
  }
  GENERAL_NAMES_free(names);
  return texts;
}

std::string TakeOpenSslError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  const char* const reason = ERR_SYSTEM_ERROR(code) ? nullptr : ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  char text[256];
  ERR_error_string_n(code, text, sizeof(text));
  return text;
}

}  // namespace callslip
