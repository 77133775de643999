#ifndef CALLSLIP_GATEWAY_OAUTH_TOKEN_CACHE_H_
#define CALLSLIP_GATEWAY_OAUTH_TOKEN_CACHE_H_

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

// Tokens that were verified, by their digests, so that a client that goes on calling costs no
// signature check a call. Of too many, those that were not used for longest make room; what calls
// were let in by outlasts its place here, and is revoked with its key all the same. Not
// thread-safe.
class TokenCache {
 public:
  // Some hundred bytes each.
  static constexpr size_t kMaxTokens = 1000;

  // What `token` was found to be. Null where it is not here, or is over by `now`.
  CredentialPtr Find(absl::string_view token, absl::Time now);

  // `key` has signed it.
  void Add(absl::string_view token, std::shared_ptr<Credential> credential, const PublicKey& key);

  // Withdraws, and forgets, those whose keys are not among `keys` any more, with those that have
  // made room.
  void KeepSignedBy(const KeySet& keys);

  size_t size() const { return entries_.size(); }
  // Those that have made room and that calls may still hold.
  size_t outlasting() const { return outlasting_.size(); }

 private:
  struct Entry {
    Sha256Digest digest;
    std::shared_ptr<Credential> credential;
    PublicKey key;
  };
  using Entries = std::list<Entry>;

  // What has made room, as long as a call holds it.
  struct Outlasting {
    std::weak_ptr<Credential> credential;
    PublicKey key;
  };

  Entries::iterator Remove(Entries::iterator entry);
  // The same, but remembers what calls still hold.
  void Evict(Entries::iterator entry);
  void ForgetEnded();

  Entries entries_;  // Those that were used last come first.
  std::vector<Outlasting> outlasting_;
  size_t forget_at_ = kMaxTokens;  // When so many outlast, those that have ended are forgotten.
  absl::flat_hash_map<Sha256Digest, Entries::iterator> by_digest_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_TOKEN_CACHE_H_
