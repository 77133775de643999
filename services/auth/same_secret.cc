#include "auth/same_secret.h"

#include "openssl/crypto.h"

namespace callslip {

bool IsSameSecret(absl::string_view one, absl::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace callslip
