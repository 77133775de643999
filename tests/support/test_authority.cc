#include "support/test_authority.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "openssl/pem.h"
#include "openssl/x509v3.h"

namespace callslip {
namespace {

constexpr long kDay = 24 * 60 * 60;

template <typename Write>
std::string PemOf(const Write& write) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  write(bio.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<size_t>(size)};
}

void Extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) {
    std::fprintf(stderr, "no extension: %s\n", value.c_str());
    std::abort();
  }
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void Name(X509_NAME* name, const std::string& text) {
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1, 0);
}

}  // namespace

TestAuthority::Key TestAuthority::NewKey() { return Key(EVP_EC_gen("P-256")); }

TestAuthority::TestAuthority() : key_(NewKey()) {
  certificate_ = Certify({.names = ""}, key_.get(), nullptr, key_.get());
}

std::string TestAuthority::certificate() const {
  return PemOf([this](BIO* bio) { PEM_write_bio_X509(bio, certificate_.get()); });
}

TestAuthority::Pair TestAuthority::Issue(const Subject& subject) const {
  const Key key = NewKey();
  return PairOf(Certify(subject, key.get(), certificate_.get(), key_.get()).get(), key.get());
}

TestAuthority::Pair TestAuthority::SelfSigned(const Subject& subject) {
  const Key key = NewKey();
  return PairOf(Certify(subject, key.get(), nullptr, key.get()).get(), key.get());
}

// Without names it is the certificate of an authority.
X509Ptr TestAuthority::Certify(const Subject& subject, EVP_PKEY* key, X509* issuer,
                               EVP_PKEY* issuer_key) {
  static std::atomic<long> serial{1};
  X509Ptr certificate(X509_new());
  X509* const made = certificate.get();
  X509_set_version(made, X509_VERSION_3);
  const long number = serial++;
  ASN1_INTEGER_set(X509_get_serialNumber(made), number);
  X509_gmtime_adj(X509_getm_notBefore(made), subject.begins * kDay);
  X509_gmtime_adj(X509_getm_notAfter(made), subject.ends * kDay);
  X509_set_pubkey(made, key);
  Name(X509_get_subject_name(made), "test " + std::to_string(number));
  X509* const signer = issuer == nullptr ? made : issuer;
  X509_set_issuer_name(made, X509_get_subject_name(signer));
  if (subject.names.empty()) {
    Extend(made, signer, NID_basic_constraints, "critical,CA:TRUE");
    Extend(made, signer, NID_key_usage, "critical,keyCertSign");
  } else {
    Extend(made, signer, NID_subject_alt_name, subject.names);
    Extend(made, signer, NID_ext_key_usage, subject.purposes);
  }
  X509_sign(made, issuer_key, EVP_sha256());
  return certificate;
}

TestAuthority::Pair TestAuthority::PairOf(X509* certificate, EVP_PKEY* key) {
  return {.certificate = PemOf([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); }),
          .key = PemOf([&](BIO* bio) {
            PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace callslip
