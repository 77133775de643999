#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "openssl/pem.h"
#include "openssl/ssl.h"
#include "support/raw_connection.h"
#include "support/test_authority.h"
#include "tls/openssl.h"

namespace callslip::gateway {

// A RawConnection under OpenSSL's TLS, with good or bad options. It trusts any server.
class TlsConnection : public RawConnection {
 public:
  struct Options {
    int min_version = TLS1_2_VERSION;
    int max_version = TLS1_3_VERSION;
    // At 0 OpenSSL accepts what it would refuse itself.
    int security_level = 2;
    const char* ciphers = nullptr;  // Of TLS 1.2 and before.
    std::string protocols = {};     // As ALPN has them, each after its length.
    TestAuthority::Pair certificate = {};
  };

  // Connects; `Shake` or the first byte begins the handshake.
  explicit TlsConnection(uint16_t port, const Options& options, int receive_buffer = 0)
      : RawConnection(port, receive_buffer), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX* const context = context_.get();
    SSL_CTX_set_security_level(context, options.security_level);
    SSL_CTX_set_min_proto_version(context, options.min_version);
    SSL_CTX_set_max_proto_version(context, options.max_version);
    if (options.ciphers != nullptr) SSL_CTX_set_cipher_list(context, options.ciphers);
    SSL_CTX_set_alpn_protos(context,
                            reinterpret_cast<const unsigned char*>(options.protocols.data()),
                            static_cast<unsigned>(options.protocols.size()));
    Use(options.certificate);
    session_.reset(SSL_new(context));
    UseSocket(session_.get(), fd());
    SSL_set_connect_state(session_.get());
  }
  explicit TlsConnection(uint16_t port) : TlsConnection(port, Options{}) {}

  bool Shake() { return SSL_do_handshake(session()) == 1; }
  SSL* session() { return session_.get(); }

  // Reports the end of its data, and keeps the connection open.
  void SayEnd() { SSL_shutdown(session()); }

  void Send(const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      size_t size = 0;
      if (SSL_write_ex(session(), bytes.data() + sent, bytes.size() - sent, &size) != 1) return;
      sent += size;
    }
  }
  void SendRaw(const std::string& bytes) { RawConnection::Send(bytes); }

  std::string ReadTo(const std::string& end) {
    std::string all;
    char byte;
    while (!absl::EndsWith(all, end) && SSL_read(session(), &byte, 1) == 1) all.push_back(byte);
    return all;
  }
  std::string Read(size_t size) {
    std::string bytes(size, '\0');
    size_t read = 0;
    for (int n; read < size; read += static_cast<size_t>(n)) {
      n = SSL_read(session(), bytes.data() + read, static_cast<int>(size - read));
      if (n <= 0) break;
    }
    bytes.resize(read);
    return bytes;
  }
  std::string ReadAll() { return Read(64 << 20); }

  // The server's certificate, in PEM.
  std::string ServerCertificate() {
    const X509Ptr certificate(SSL_get1_peer_certificate(session()));
    const BioPtr bio(BIO_new(BIO_s_mem()));
    if (certificate != nullptr) PEM_write_bio_X509(bio.get(), certificate.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    return {text, static_cast<size_t>(size)};
  }

 private:
  void Use(const TestAuthority::Pair& pair) {
    if (pair.certificate.empty()) return;
    const BioPtr certificate(BIO_new_mem_buf(pair.certificate.data(), -1));
    const BioPtr key(BIO_new_mem_buf(pair.key.data(), -1));
    const X509Ptr parsed(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
    EVP_PKEY* const parsed_key = PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context_.get(), parsed.get());
    SSL_CTX_use_PrivateKey(context_.get(), parsed_key);
    EVP_PKEY_free(parsed_key);
  }

  SslContextPtr context_;
  SslPtr session_;
};

}  // namespace callslip::gateway
