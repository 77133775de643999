#include "gateway/oauth/issuer_fixture.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/url.h"
#include "openssl/bio.h"
#include "openssl/bn.h"
#include "openssl/core_names.h"
#include "openssl/ecdsa.h"
#include "openssl/evp.h"
#include "openssl/pem.h"

namespace callslip::gateway {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

std::string NumberOf(const BIGNUM* number, size_t bytes) {
  std::string text(bytes, '\0');
  Require(BN_bn2binpad(number, reinterpret_cast<unsigned char*>(text.data()),
                       static_cast<int>(bytes)) >= 0);
  return text;
}

std::string NumberParameter(EVP_PKEY* key, const char* name, size_t bytes = 0) {
  BIGNUM* number = nullptr;
  Require(EVP_PKEY_get_bn_param(key, name, &number) == 1);
  const size_t size = bytes == 0 ? static_cast<size_t>(BN_num_bytes(number)) : bytes;
  std::string text = NumberOf(number, size);
  BN_free(number);
  return EncodeBase64Url(text);
}

size_t CoordinateBytes(EVP_PKEY* key) {
  return static_cast<size_t>(EVP_PKEY_get_bits(key) + 7) / 8;
}

}  // namespace

TestKey::TestKey(EVP_PKEY* key) : key_(key, EVP_PKEY_free) { Require(key != nullptr); }

TestKey TestKey::Rsa(int bits) {
  return TestKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", static_cast<size_t>(bits)));
}

TestKey TestKey::Ec(const char* curve) {
  return TestKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve));
}

TestKey TestKey::Ed25519() { return TestKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }

Json TestKey::Jwk(const std::string& kid) const {
  Json jwk;
  EVP_PKEY* const key = key_.get();
  if (EVP_PKEY_is_a(key, "RSA") == 1) {
    jwk = {{"kty", "RSA"},
           {"n", NumberParameter(key, OSSL_PKEY_PARAM_RSA_N)},
           {"e", NumberParameter(key, OSSL_PKEY_PARAM_RSA_E)}};
  } else if (EVP_PKEY_is_a(key, "EC") == 1) {
    const size_t bytes = CoordinateBytes(key);
    jwk = {{"kty", "EC"},
           {"crv", bytes == 32 ? "P-256" : "P-384"},
           {"x", NumberParameter(key, OSSL_PKEY_PARAM_EC_PUB_X, bytes)},
           {"y", NumberParameter(key, OSSL_PKEY_PARAM_EC_PUB_Y, bytes)}};
  } else {
    std::string bytes(32, '\0');
    size_t size = 0;
    Require(EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY,
                                            reinterpret_cast<unsigned char*>(bytes.data()),
                                            bytes.size(), &size) == 1);
    jwk = {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", EncodeBase64Url(bytes)}};
  }
  if (!kid.empty()) jwk["kid"] = kid;
  return jwk;
}

std::string TestKey::SignPlain(absl::string_view text) const {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  const EVP_MD* digest = EVP_PKEY_is_a(key_.get(), "ED25519") == 1 ? nullptr : EVP_sha256();
  Require(EVP_DigestSignInit(context, nullptr, digest, nullptr, key_.get()) == 1);
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  Require(EVP_DigestSign(context, nullptr, &size, bytes, text.size()) == 1);
  std::string signature(size, '\0');
  Require(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                         text.size()) == 1);
  signature.resize(size);
  EVP_MD_CTX_free(context);
  return signature;
}

std::string TestKey::Sign(absl::string_view text) const {
  std::string signature = SignPlain(text);
  if (EVP_PKEY_is_a(key_.get(), "EC") != 1) return signature;
  const auto* der = reinterpret_cast<const unsigned char*>(signature.data());
  ECDSA_SIG* const pair = d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(signature.size()));
  const size_t bytes = CoordinateBytes(key_.get());
  signature = absl::StrCat(NumberOf(ECDSA_SIG_get0_r(pair), bytes),
                           NumberOf(ECDSA_SIG_get0_s(pair), bytes));
  ECDSA_SIG_free(pair);
  return signature;
}

std::string TestKey::PublicPem() const {
  BIO* const memory = BIO_new(BIO_s_mem());
  Require(PEM_write_bio_PUBKEY(memory, key_.get()) == 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(memory);
  return text;
}

std::string EncodeBase64Url(absl::string_view bytes) { return absl::WebSafeBase64Escape(bytes); }

std::string SignedPart(absl::string_view header, absl::string_view claims) {
  return absl::StrCat(EncodeBase64Url(header), ".", EncodeBase64Url(claims));
}

std::string Token(const Json& header, const Json& claims, const TestKey& key) {
  return TokenOfTexts(header.dump(), claims.dump(), key);
}

std::string TokenOfTexts(absl::string_view header, absl::string_view claims, const TestKey& key) {
  const std::string text = SignedPart(header, claims);
  return absl::StrCat(text, ".", EncodeBase64Url(key.Sign(text)));
}

std::string KeySetText(const std::vector<Json>& keys) { return Json{{"keys", keys}}.dump(); }

void FakeDocuments::Hold() {
  MutexLock lock(&mutex_);
  hold_ = true;
}

void FakeDocuments::Release() {
  MutexLock lock(&mutex_);
  hold_ = false;
  changed_.NotifyAll();
}

void FakeDocuments::Stop() { Release(); }

void FakeDocuments::AwaitHeld() {
  MutexLock lock(&mutex_);
  while (held_ == 0) changed_.Wait(&mutex_);
}

absl::StatusOr<Document> FakeDocuments::Get(const Url& url) {
  const std::string text = absl::StrCat(url.Origin(), url.path);
  MutexLock lock(&mutex_);
  ++requests_[text];
  log_.push_back(text);
  ++held_;
  changed_.NotifyAll();
  while (hold_) changed_.Wait(&mutex_);
  --held_;
  const auto found = documents_.find(text);
  if (found == documents_.end()) return absl::NotFoundError("status 404");
  return found->second;
}

}  // namespace callslip::gateway
