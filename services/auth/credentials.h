#ifndef CALLSLIP_AUTH_CREDENTIALS_H_
#define CALLSLIP_AUTH_CREDENTIALS_H_

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/principal.h"
#include "auth/sha256.h"
#include "auth/token_file.h"
#include "common/mutex.h"

namespace callslip {

// What somebody has shown to be let in. Calls that last hold it, and end when it is over.
// Thread-safe.
class Credential {
 public:
  explicit Credential(Principal principal, absl::Time expires = absl::InfiniteFuture(),
                      std::string session_id = "")
      : principal_(std::move(principal)), expires_(expires), session_id_(std::move(session_id)) {}
  // What somebody has got by showing `whole`: it ends with that, or before.
  Credential(std::shared_ptr<const Credential> whole, absl::Time expires)
      : principal_(whole->principal_),
        expires_(std::min(expires, whole->expires_)),
        whole_(std::move(whole)) {}

  const Principal& principal() const { return principal_; }
  // By the wall clock.
  absl::Time expires() const { return expires_; }
  // The session whose agent has shown it; empty where it is no agent of a session.
  const std::string& session_id() const { return session_id_; }
  bool IsRevoked() const {
    return revoked_.load(std::memory_order_relaxed) || (whole_ != nullptr && whole_->IsRevoked());
  }
  bool IsOver(absl::Time now) const { return IsRevoked() || now >= expires_; }

  void Revoke() { revoked_ = true; }

 private:
  const Principal principal_;
  const absl::Time expires_;
  const std::string session_id_;
  const std::shared_ptr<const Credential> whole_;  // Mostly null.
  std::atomic<bool> revoked_{false};
};
using CredentialPtr = std::shared_ptr<const Credential>;

// Knows who presents which token or certificate. Thread-safe.
class Credentials {
 public:
  explicit Credentials(const std::vector<TokenFile::Entry>& entries) { Replace(entries); }

  // Null for an unknown token. How long it takes tells nothing about the tokens that there are.
  CredentialPtr FindToken(absl::string_view token) const;
  // The token with this TokenFingerprint(), for what is signed with it instead of showing it.
  // Nullopt for an unknown one.
  struct Token {
    std::string text;
    CredentialPtr credential;
  };
  std::optional<Token> FindFingerprint(absl::string_view fingerprint) const;
  // By a name that a certificate has, whose authority was checked. Null for an unknown one.
  CredentialPtr FindCertificate(absl::string_view name) const;

  // From now on these. Those that stay are the same as before; the others are revoked. Returns
  // how many that were.
  int Replace(const std::vector<TokenFile::Entry>& entries);

 private:
  struct Known {
    absl::flat_hash_map<Sha256Digest, std::shared_ptr<Credential>> by_token;
    absl::flat_hash_map<std::string, std::shared_ptr<Credential>> by_certificate;
    absl::flat_hash_map<std::string, std::string> token_by_fingerprint;
  };

  mutable Mutex mutex_;
  Known known_ ABSL_GUARDED_BY(mutex_);
};

// The token in an Authorization header ("Bearer TOKEN"), a part of its text, or nullopt where it
// holds none.
std::optional<absl::string_view> BearerTokenOf(absl::string_view authorization);

}  // namespace callslip

#endif  // CALLSLIP_AUTH_CREDENTIALS_H_
