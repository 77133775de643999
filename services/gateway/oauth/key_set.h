#pragma once

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

  // INVALID_ARGUMENT if `text` is not a key set or has more than kMaxKeys. An unusable key is an
  // error only when a token names it, because it can be meant for another program.
  static absl::StatusOr<KeySet> Parse(const std::string& text);

  // The key with the `key_id` of a token; if that is empty, the only key. UNAUTHENTICATED with one
  // of these reasons:
  //   key_unknown      no key has this ID; a newer set may have it
  //   key_id_missing   the token has no key ID, and the set does not have exactly one key
  //   key_unsuitable   the key is not usable, or not for `algorithm`
  absl::StatusOr<PublicKey> Find(const std::string& key_id, JwtAlgorithm algorithm) const;

  bool Has(const PublicKey& key) const;
  // By PublicKey::Thumbprint(). Nullopt if there is no such key.
  std::optional<PublicKey> FindThumbprint(absl::string_view thumbprint) const;
  size_t size() const { return keys_.size(); }
  // The number of usable keys.
  size_t usable() const;

 private:
  struct Entry {
    std::string id;  // Can be empty.
    absl::StatusOr<PublicKey> key;
  };

  std::vector<Entry> keys_;
};

}  // namespace callslip::gateway
