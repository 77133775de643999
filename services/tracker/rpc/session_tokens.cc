#include "tracker/rpc/session_tokens.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "auth/session_token.h"
#include "auth/sha256.h"
#include "common/random.h"

namespace callslip::tracker {

std::string NewSessionToken() {
  return absl::StrCat(kSessionTokenPrefix, RandomHex128(), RandomHex128());
}

std::string HashOfToken(absl::string_view token) {
  const Sha256Digest digest = Sha256(token);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

void SessionTokens::Set(const std::string& session_id, const std::string& hash) {
  MutexLock lock(&mutex_);
  if (const auto before = hashes_.find(session_id); before != hashes_.end()) {
    sessions_.erase(before->second);
    hashes_.erase(before);
  }
  if (hash.empty()) return;
  hashes_[session_id] = hash;
  sessions_[hash] = session_id;
}

std::string SessionTokens::SessionOf(const std::string& hash) {
  MutexLock lock(&mutex_);
  const auto found = sessions_.find(hash);
  return found == sessions_.end() ? "" : found->second;
}

}  // namespace callslip::tracker
