#pragma once

#include <memory>
#include <string>

#include "openssl/evp.h"
#include "tls/openssl.h"

namespace callslip {

// Certificates for tests, made on demand.
class TestAuthority {
 public:
  struct Pair {
    std::string certificate;  // In PEM.
    std::string key;          // In PEM.
  };
  struct Subject {
    // As openssl writes alternative names.
    std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";
    // Days from now.
    int begins = -1;
    int ends = 1;
    std::string purposes = "serverAuth,clientAuth";
  };

  TestAuthority();

  std::string certificate() const;
  Pair Issue(const Subject& subject) const;
  Pair Issue() const { return Issue(Subject{}); }
  static Pair SelfSigned(const Subject& subject);

 private:
  struct KeyDeleter {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;

  static Key NewKey();
  static X509Ptr Certify(const Subject& subject, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key);
  static Pair PairOf(X509* certificate, EVP_PKEY* key);

  const Key key_;
  X509Ptr certificate_;
};

}  // namespace callslip
