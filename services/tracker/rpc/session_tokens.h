#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"

namespace callslip::tracker {

// A new token for the agent of a session: `callslip-session-` and 256 random bits.
std::string NewSessionToken();
// The stored hash of a token, in hexadecimal digits.
std::string HashOfToken(absl::string_view token);

// Finds the session of a token by the token's hash: an index of the sessions' metadata, at most one
// entry per session. Thread-safe.
class SessionTokens {
 public:
  // Replaces the session's hash. Empty: none.
  void Set(const std::string& session_id, const std::string& hash);
  // Empty if unknown.
  std::string SessionOf(const std::string& hash);

 private:
  Mutex mutex_;
  absl::flat_hash_map<std::string, std::string> sessions_ ABSL_GUARDED_BY(mutex_);  // By hash.
  absl::flat_hash_map<std::string, std::string> hashes_ ABSL_GUARDED_BY(mutex_);    // By session.
};

}  // namespace callslip::tracker
