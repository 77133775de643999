#ifndef CALLSLIP_GATEWAY_OAUTH_KEY_SET_H_
#define CALLSLIP_GATEWAY_OAUTH_KEY_SET_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gateway/oauth/jwt.h"
#include "gateway/oauth/public_key.h"

namespace callslip::gateway {

// The keys of an authorization server (RFC 7517, section 5). Immutable.
class KeySet {
 public:
  static constexpr size_t kMaxKeys = 100;

  // INVALID_ARGUMENT where `text` is not a key set or has more than kMaxKeys. A key in it that
  // can't be used makes no error before a token names it: others may have use for it.
  static absl::StatusOr<KeySet> Parse(const std::string& text);

  // The key that a token names by `key_id`, or the only one there is where that is empty.
  // UNAUTHENTICATED with one of these reasons:
  //   key_unknown      no key has this name; a newer set may have
  //   key_id_missing   the token names none, and there are several
  //   key_unsuitable   it can't be used, or not for `algorithm`
  absl::StatusOr<PublicKey> Find(const std::string& key_id, JwtAlgorithm algorithm) const;

  bool Has(const PublicKey& key) const;
  // By PublicKey::Thumbprint(). Nullopt where there is none such.
  std::optional<PublicKey> FindThumbprint(absl::string_view thumbprint) const;
  size_t size() const { return keys_.size(); }
  // Those that can be used.
  size_t usable() const;

 private:
  struct Entry {
    std::string id;  // May be empty.
    absl::StatusOr<PublicKey> key;
  };

  std::vector<Entry> keys_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_KEY_SET_H_
