#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "auth/sha256.h"
#include "gateway/oauth/key_set.h"
#include "gateway/oauth/public_key.h"

namespace callslip::gateway {

// Verified tokens, by digest, so that repeated calls of a client need no signature check. When
// full, the least recently used token is evicted. Its credential, which calls may still use,
// outlasts its entry and is still revoked together with its key. Not thread-safe.
class TokenCache {
 public:
  // Some hundred bytes each.
  static constexpr size_t kMaxTokens = 1000;

  // The credential for `token`. Null if it is not cached, or has ended by `now`.
  CredentialPtr Find(absl::string_view token, absl::Time now);

  // `key` is the key that signed the token.
  void Add(absl::string_view token, std::shared_ptr<Credential> credential, const PublicKey& key);

  // Revokes and forgets the credentials whose keys are not among `keys` any more, including those
  // of evicted tokens.
  void KeepSignedBy(const KeySet& keys);

  size_t size() const { return entries_.size(); }
  // Credentials of evicted tokens that calls may still hold.
  size_t outlasting() const { return outlasting_.size(); }

 private:
  struct Entry {
    Sha256Digest digest;
    std::shared_ptr<Credential> credential;
    PublicKey key;
  };
  using Entries = std::list<Entry>;

  // The credential of an evicted token, for as long as a call holds it.
  struct Outlasting {
    std::weak_ptr<Credential> credential;
    PublicKey key;
  };

  Entries::iterator Remove(Entries::iterator entry);
  // Remove(), but remembers the credential if calls still hold it.
  void Evict(Entries::iterator entry);
  void ForgetEnded();

  Entries entries_;  // Most recently used first.
  std::vector<Outlasting> outlasting_;
  size_t forget_at_ = kMaxTokens;  // At this size of `outlasting_`, the credentials that have ended
                                   // are forgotten.
  absl::flat_hash_map<Sha256Digest, Entries::iterator> by_digest_;
};

}  // namespace callslip::gateway
