#include "gateway/oauth/public_key.h"

#include <cstddef>
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "auth/sha256.h"
#include "common/status_macros.h"
#include "gateway/json/json_members.h"
#include "openssl/bn.h"
#include "openssl/core_names.h"
#include "openssl/ecdsa.h"
#include "openssl/err.h"
#include "openssl/evp.h"
#include "openssl/param_build.h"
#include "openssl/x509.h"

namespace callslip::gateway {
namespace {

// Shorter keys can be broken (RFC 7518, section 3.3); longer ones only cost time.
constexpr int kMinRsaBits = 2048;
constexpr int kMaxRsaBits = 8192;
constexpr size_t kP256Bytes = 32;  // Of a coordinate, and of each half of a signature.

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using ParamBuild = std::unique_ptr<OSSL_PARAM_BLD, Free<OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Free<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using EcdsaSignature = std::unique_ptr<ECDSA_SIG, Free<ECDSA_SIG_free>>;

// OpenSSL keeps a queue of errors for each thread, which is not read here.
struct ErrorsForgotten {
  ~ErrorsForgotten() { ERR_clear_error(); }
};

const unsigned char* BytesOf(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number NumberOf(absl::string_view bytes) {
  return Number(BN_bin2bn(BytesOf(bytes), static_cast<int>(bytes.size()), nullptr));
}

absl::Status Unsuitable(absl::string_view why) { return absl::InvalidArgumentError(why); }

// Checks the purpose that the key declares (RFC 7517, sections 4.2 to 4.4).
absl::Status CheckPurpose(const Json& jwk, absl::string_view algorithm) {
  if (jwk.contains("use") && TextOf(jwk, "use") != "sig") {
    return Unsuitable("it is not for signatures");
  }
  if (const Json& operations = MemberOf(jwk, "key_ops"); !operations.is_null()) {
    const bool verifies = operations.is_array() && absl::c_linear_search(operations, "verify");
    if (!verifies) return Unsuitable("it is not to verify with");
  }
  if (jwk.contains("alg") && TextOf(jwk, "alg") != algorithm) {
    return Unsuitable(absl::StrCat("its algorithm is not ", algorithm));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> BytesMember(const Json& jwk, const char* name) {
  std::optional<std::string> bytes = DecodeBase64Url(TextOf(jwk, name));
  if (!bytes.has_value() || bytes->empty()) {
    return Unsuitable(absl::StrCat(name, " is missing, or is not in base64url"));
  }
  return *std::move(bytes);
}

absl::StatusOr<std::shared_ptr<EVP_PKEY>> MakeKey(const char* type, OSSL_PARAM_BLD* build) {
  const ErrorsForgotten forget;
  const Params params(OSSL_PARAM_BLD_to_param(build));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* made = nullptr;
  if (params == nullptr || context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) {
    return Unsuitable("its numbers make no key");
  }
  std::shared_ptr<EVP_PKEY> key(made, EVP_PKEY_free);
  const KeyContext check(EVP_PKEY_CTX_new_from_pkey(nullptr, made, nullptr));
  if (check == nullptr || EVP_PKEY_public_check(check.get()) != 1) {
    return Unsuitable("its numbers make no key");
  }
  return key;
}

absl::StatusOr<std::shared_ptr<EVP_PKEY>> RsaKey(const Json& jwk) {
  ASSIGN_OR_RETURN(const std::string modulus, BytesMember(jwk, "n"));
  ASSIGN_OR_RETURN(const std::string exponent, BytesMember(jwk, "e"));
  if (modulus.size() * 8 > kMaxRsaBits || exponent.size() > sizeof(uint64_t)) {
    return Unsuitable("its numbers are too large");
  }
  const Number n = NumberOf(modulus);
  const Number e = NumberOf(exponent);
  if (BN_num_bits(n.get()) < kMinRsaBits) return Unsuitable("it has less than 2048 bits");
  const ParamBuild build(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  return MakeKey("RSA", build.get());
}

absl::StatusOr<std::shared_ptr<EVP_PKEY>> P256Key(const Json& jwk) {
  if (TextOf(jwk, "crv") != "P-256") return Unsuitable("its curve is not P-256");
  ASSIGN_OR_RETURN(const std::string x, BytesMember(jwk, "x"));
  ASSIGN_OR_RETURN(const std::string y, BytesMember(jwk, "y"));
  if (x.size() != kP256Bytes || y.size() != kP256Bytes) {
    return Unsuitable("its coordinates do not have 32 bytes");
  }
  const std::string point = absl::StrCat("\x04", x, y);  // Uncompressed (SEC 1).
  const ParamBuild build(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  return MakeKey("EC", build.get());
}

absl::StatusOr<std::shared_ptr<EVP_PKEY>> Ed25519Key(const Json& jwk) {
  if (TextOf(jwk, "crv") != "Ed25519") return Unsuitable("its curve is not Ed25519");
  ASSIGN_OR_RETURN(const std::string x, BytesMember(jwk, "x"));
  const ParamBuild build(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PUB_KEY, x.data(), x.size());
  return MakeKey("ED25519", build.get());
}

// Converts the two concatenated numbers (RFC 7518, section 3.4) to DER for OpenSSL. Empty if they
// are not two numbers of 32 bytes.
std::string EcdsaDer(absl::string_view signature) {
  if (signature.size() != 2 * kP256Bytes) return "";
  Number r = NumberOf(signature.substr(0, kP256Bytes));
  Number s = NumberOf(signature.substr(kP256Bytes));
  const EcdsaSignature pair(ECDSA_SIG_new());
  if (ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return "";
  (void)r.release();  // The pair owns it now.
  (void)s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return "";
  std::string text(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return text;
}

}  // namespace

absl::StatusOr<PublicKey> PublicKey::FromJwk(const Json& jwk) {
  const std::string type = TextOf(jwk, "kty");
  if (type == "RSA") {
    RETURN_IF_ERROR(CheckPurpose(jwk, "RS256"));
    ASSIGN_OR_RETURN(Handle key, RsaKey(jwk));
    return PublicKey(JwtAlgorithm::kRs256, std::move(key));
  }
  if (type == "EC") {
    RETURN_IF_ERROR(CheckPurpose(jwk, "ES256"));
    ASSIGN_OR_RETURN(Handle key, P256Key(jwk));
    return PublicKey(JwtAlgorithm::kEs256, std::move(key));
  }
  if (type == "OKP") {
    RETURN_IF_ERROR(CheckPurpose(jwk, "EdDSA"));
    ASSIGN_OR_RETURN(Handle key, Ed25519Key(jwk));
    return PublicKey(JwtAlgorithm::kEdDsa, std::move(key));
  }
  return Unsuitable("its type is not RSA, EC or OKP");
}

bool PublicKey::Verifies(absl::string_view text, absl::string_view signature) const {
  const ErrorsForgotten forget;
  std::string der;
  if (algorithm_ == JwtAlgorithm::kEs256) {
    der = EcdsaDer(signature);
    signature = der;
  }
  if (signature.empty()) return false;
  // Ed25519 has its own digest.
  const EVP_MD* digest = algorithm_ == JwtAlgorithm::kEdDsa ? nullptr : EVP_sha256();
  const DigestContext context(EVP_MD_CTX_new());
  return context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key_.get()) == 1 &&
         EVP_DigestVerify(context.get(), BytesOf(signature), signature.size(), BytesOf(text),
                          text.size()) == 1;
}

std::string PublicKey::Thumbprint() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  std::string thumbprint = Sha256Base64Url(absl::string_view(
      reinterpret_cast<const char*>(der), size > 0 ? static_cast<size_t>(size) : 0));
  OPENSSL_free(der);
  return thumbprint;
}

bool PublicKey::operator==(const PublicKey& other) const {
  return EVP_PKEY_eq(key_.get(), other.key_.get()) == 1;
}

}  // namespace callslip::gateway
