#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "auth/principal.h"

namespace callslip {

// The principals that can call a gateway or a tracker. The file has one line for each, and comments
// after '#':
//   ROLE NAME TOKEN        the principal NAME, which presents TOKEN
//   ROLE NAME cert:SAN     the same, which presents a certificate with this alternative name
//   session-key - HEX      the key that signs the ids of MCP sessions, for gateways
// A worker can be restricted to targets and a name: `worker NAME TOKEN target=browser,shell
// worker=laptop`. A principal can have several lines, with one role, so that a new token can be
// added before the old one is removed.
struct TokenFile {
  struct Entry {
    Principal principal;
    std::string token;  // 32 to 512 characters that an Authorization header can hold; or empty,
    std::string certificate;  // and then 1 to 253 characters.
  };

  std::vector<Entry> entries;  // At least one; no duplicate tokens or certificates.
  std::string session_key;     // 32 bytes, or empty.
};

// INVALID_ARGUMENT, naming the line, if `text` does not have the form above. Never quotes the text,
// which could be a secret in the wrong place.
absl::StatusOr<TokenFile> ParseTokenFile(absl::string_view text);

// Reads the file at `path`. If it does not exist, creates it first, readable only by its owner,
// with one principal of each role (agent, extension, viewer, admin, runner, gateway) and random
// secrets; if several programs start together, one creates it and all read it. FAILED_PRECONDITION
// if group or others have access to it; INVALID_ARGUMENT as above; NOT_FOUND or PERMISSION_DENIED
// if it can be neither read nor created. All errors state the remedy.
absl::StatusOr<TokenFile> LoadOrCreateTokenFile(const std::string& path);

// As above, for a file that must exist.
absl::StatusOr<TokenFile> LoadTokenFile(const std::string& path);

// A gateway's error for a file without a session key.
absl::Status SessionKeyMissing(const std::string& path);

// Atomically changes the text of the file at `path`, which must be valid before and after: readers
// see either the old or the new text. Keeps the owner; the mode is 0600. Concurrent callers take
// turns. Errors as above, and those of `edit`.
absl::Status EditTokenFile(
    const std::string& path,
    const std::function<absl::StatusOr<std::string>(const std::string& text)>& edit);

// A principal as in its line of the file, without its secret, such as `client agent`.
std::string DescribePrincipal(const Principal& principal);

// A name for a token that does not reveal it: the first 12 hexadecimal digits of its SHA-256.
std::string TokenFingerprint(absl::string_view token);

// A new random token: 64 hexadecimal digits.
std::string NewToken();

}  // namespace callslip
