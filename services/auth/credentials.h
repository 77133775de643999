#pragma once

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

// A proof of identity that a caller has presented. Long calls hold it, and end when it ends.
// Thread-safe.
class Credential {
 public:
  explicit Credential(Principal principal, absl::Time expires = absl::InfiniteFuture(),
                      std::string session_id = "")
      : principal_(std::move(principal)), expires_(expires), session_id_(std::move(session_id)) {}
  // A credential obtained by presenting `whole`: it ends with `whole`, or earlier.
  Credential(std::shared_ptr<const Credential> whole, absl::Time expires)
      : principal_(whole->principal_),
        expires_(std::min(expires, whole->expires_)),
        whole_(std::move(whole)) {}

  const Principal& principal() const { return principal_; }
  // By the wall clock.
  absl::Time expires() const { return expires_; }
  // The session whose agent has presented it; empty if the caller is not a session's agent.
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
  const std::shared_ptr<const Credential> whole_;  // Null for most credentials.
  std::atomic<bool> revoked_{false};
};
using CredentialPtr = std::shared_ptr<const Credential>;

// The known tokens and certificates and their principals. Thread-safe.
class Credentials {
 public:
  explicit Credentials(const std::vector<TokenFile::Entry>& entries) { Replace(entries); }

  // Null for an unknown token. The time it takes reveals nothing about the known tokens.
  CredentialPtr FindToken(absl::string_view token) const;
  // The token with this TokenFingerprint(), to verify requests that are signed with it instead of
  // sending it. Nullopt if unknown.
  struct Token {
    std::string text;
    CredentialPtr credential;
  };
  std::optional<Token> FindFingerprint(absl::string_view fingerprint) const;
  // By a name in a certificate whose authority was verified. Null if unknown.
  CredentialPtr FindCertificate(absl::string_view name) const;

  // Replaces the known credentials. Unchanged ones stay the same objects; the others are revoked.
  // Returns the number of revoked ones.
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

// The token in an Authorization header ("Bearer TOKEN") as a view of its text, or nullopt if there
// is none.
std::optional<absl::string_view> BearerTokenOf(absl::string_view authorization);

}  // namespace callslip
