#include "auth/credentials.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace callslip {
namespace {

// Moves the credential of `key` from `before` if its principal is unchanged, else makes a new one.
template <typename Map, typename Key>
void Keep(Map& before, Map& after, Key key, const Principal& principal) {
  const auto known = before.find(key);
  if (known != before.end() && known->second->principal() == principal) {
    after.insert(before.extract(known));
  } else {
    after[std::move(key)] = std::make_shared<Credential>(principal);
  }
}

template <typename Map>
int RevokeAll(const Map& map) {
  for (const auto& [key, credential] : map) credential->Revoke();
  return static_cast<int>(map.size());
}

template <typename Map, typename Key>
CredentialPtr Find(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

CredentialPtr Credentials::FindToken(absl::string_view token) const {
  // A plain lookup is safe: no caller can steer the digest of what it sends toward a known one.
  const Sha256Digest digest = Sha256(token);
  MutexLock lock(&mutex_);
  return Find(known_.by_token, digest);
}

std::optional<Credentials::Token> Credentials::FindFingerprint(
    absl::string_view fingerprint) const {
  MutexLock lock(&mutex_);
  const auto found = known_.token_by_fingerprint.find(fingerprint);
  if (found == known_.token_by_fingerprint.end()) return std::nullopt;
  return Token{found->second, Find(known_.by_token, Sha256(found->second))};
}

CredentialPtr Credentials::FindCertificate(absl::string_view name) const {
  MutexLock lock(&mutex_);
  return Find(known_.by_certificate, name);
}

int Credentials::Replace(const std::vector<TokenFile::Entry>& entries) {
  MutexLock lock(&mutex_);
  Known now;
  for (const TokenFile::Entry& entry : entries) {
    if (entry.certificate.empty()) {
      Keep(known_.by_token, now.by_token, Sha256(entry.token), entry.principal);
      now.token_by_fingerprint[TokenFingerprint(entry.token)] = entry.token;
    } else {
      Keep(known_.by_certificate, now.by_certificate, entry.certificate, entry.principal);
    }
  }
  const int revoked = RevokeAll(known_.by_token) + RevokeAll(known_.by_certificate);
  known_ = std::move(now);
  return revoked;
}

std::optional<absl::string_view> BearerTokenOf(absl::string_view authorization) {
  constexpr absl::string_view kScheme = "bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) return std::nullopt;
  const absl::string_view token = absl::StripAsciiWhitespace(authorization.substr(kScheme.size()));
  if (token.empty()) return std::nullopt;
  return token;
}

}  // namespace callslip
