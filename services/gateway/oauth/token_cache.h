#ifndef CALLSLIP_GATEWAY_OAUTH_TOKEN_CACHE_H_
#define CALLSLIP_GATEWAY_OAUTH_TOKEN_CACHE_H_

#include <cstddef>
#include <list>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "auth/sha256.h"
#include "gateway/oauth/key_set.h"
#include "gateway/oauth/public_key.h"

namespace callslip::gateway {

// Tokens that were verified, by their digests, so that a client that goes on calling costs no
// signature check a call. Of too many, those that were not used for longest make room. Not
// thread-safe.
class TokenCache {
 public:
  // Some hundred bytes each.
  static constexpr size_t kMaxTokens = 1000;

  // What `token` was found to be. Null where it is not here, or is over by `now`.
  CredentialPtr Find(absl::string_view token, absl::Time now);

  // `key` has signed it.
  void Add(absl::string_view token, std::shared_ptr<Credential> credential, const PublicKey& key);

  // Withdraws, and forgets, those whose keys are not among `keys` any more.
  void KeepSignedBy(const KeySet& keys);

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Sha256Digest digest;
    std::shared_ptr<Credential> credential;
    PublicKey key;
  };
  using Entries = std::list<Entry>;

  Entries::iterator Remove(Entries::iterator entry);

  Entries entries_;  // Those that were used last come first.
  absl::flat_hash_map<Sha256Digest, Entries::iterator> by_digest_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_TOKEN_CACHE_H_
