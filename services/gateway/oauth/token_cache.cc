#include "gateway/oauth/token_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace callslip::gateway {

TokenCache::Entries::iterator TokenCache::Remove(Entries::iterator entry) {
  by_digest_.erase(entry->digest);
  return entries_.erase(entry);
}

CredentialPtr TokenCache::Find(absl::string_view token, absl::Time now) {
  const auto found = by_digest_.find(Sha256(token));
  if (found == by_digest_.end()) return nullptr;
  const Entries::iterator entry = found->second;
  if (entry->credential->IsOver(now)) {
    Remove(entry);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->credential;
}

void TokenCache::Add(absl::string_view token, std::shared_ptr<Credential> credential,
                     const PublicKey& key) {
  const Sha256Digest digest = Sha256(token);
  if (const auto known = by_digest_.find(digest); known != by_digest_.end()) Evict(known->second);
  if (entries_.size() == kMaxTokens) Evict(std::prev(entries_.end()));
  entries_.push_front({digest, std::move(credential), key});
  by_digest_[digest] = entries_.begin();
}

void TokenCache::Evict(Entries::iterator entry) {
  Outlasting outlasting{entry->credential, entry->key};
  Remove(entry);
  if (outlasting.credential.expired()) return;
  outlasting_.push_back(std::move(outlasting));
  if (outlasting_.size() >= forget_at_) ForgetEnded();
}

// Runs only when the number has doubled, so that each entry costs one check on average.
void TokenCache::ForgetEnded() {
  std::erase_if(outlasting_, [](const Outlasting& each) { return each.credential.expired(); });
  forget_at_ = std::max(kMaxTokens, 2 * outlasting_.size());
}

void TokenCache::KeepSignedBy(const KeySet& keys) {
  for (const Outlasting& each : outlasting_) {
    const std::shared_ptr<Credential> credential = each.credential.lock();
    if (credential != nullptr && !keys.Has(each.key)) credential->Revoke();
  }
  std::erase_if(outlasting_, [&keys](const Outlasting& each) { return !keys.Has(each.key); });
  ForgetEnded();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (keys.Has(entry->key)) {
      ++entry;
    } else {
      entry->credential->Revoke();
      entry = Remove(entry);
    }
  }
}

}  // namespace callslip::gateway
