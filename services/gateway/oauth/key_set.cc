#include "gateway/oauth/key_set.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gateway/json/json_members.h"
#include "gateway/oauth/refusal.h"

namespace callslip::gateway {

absl::StatusOr<KeySet> KeySet::Parse(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  const Json& keys = MemberOf(json, "keys");
  if (!keys.is_array()) return absl::InvalidArgumentError("it has no array `keys`");
  if (keys.size() > kMaxKeys) {
    return absl::InvalidArgumentError(absl::StrCat("it has more than ", kMaxKeys, " keys"));
  }
  KeySet set;
  for (const Json& key : keys) {
    set.keys_.push_back({.id = TextOf(key, "kid"), .key = PublicKey::FromJwk(key)});
  }
  return set;
}

absl::StatusOr<PublicKey> KeySet::Find(const std::string& key_id, JwtAlgorithm algorithm) const {
  if (key_id.empty() && keys_.size() != 1) {
    return TokenRefused("key_id_missing", "The token does not say which key has signed it (kid).");
  }
  bool is_known = false;
  for (const Entry& entry : keys_) {
    if (!key_id.empty() && entry.id != key_id) continue;
    is_known = true;
    if (entry.key.ok() && entry.key->algorithm() == algorithm) return entry.key;
  }
  if (!is_known) {
    return TokenRefused("key_unknown", "The authorization server has no key of the token's kid.");
  }
  return TokenRefused("key_unsuitable",
                      "The authorization server's key of the token's kid is not for its algorithm, "
                      "or is not accepted.");
}

bool KeySet::Has(const PublicKey& key) const {
  return absl::c_any_of(keys_,
                        [&](const Entry& entry) { return entry.key.ok() && *entry.key == key; });
}

std::optional<PublicKey> KeySet::FindThumbprint(absl::string_view thumbprint) const {
  for (const Entry& entry : keys_) {
    if (entry.key.ok() && entry.key->Thumbprint() == thumbprint) return *entry.key;
  }
  return std::nullopt;
}

size_t KeySet::usable() const {
  return static_cast<size_t>(
      absl::c_count_if(keys_, [](const Entry& entry) { return entry.key.ok(); }));
}

}  // namespace callslip::gateway
