#ifndef CALLSLIP_AUTH_TOKEN_FILE_H_
#define CALLSLIP_AUTH_TOKEN_FILE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "auth/principal.h"

namespace callslip {

// Who may call a gateway or a tracker. In the file, one line for each, and comments after '#':
//   ROLE NAME TOKEN        the principal NAME, which presents TOKEN
//   ROLE NAME cert:SAN     the same for whoever presents a certificate with this alternative name
//   session-key - HEX      the key that signs the ids of MCP sessions, for gateways
// A worker may be held to targets and a name: `worker NAME TOKEN target=browser,shell
// worker=laptop`. A principal may have several lines, with one role: a new token is added before
// the old one goes.
struct TokenFile {
  struct Entry {
    Principal principal;
    std::string token;  // 32 to 512 characters that may stand in an Authorization header; or empty,
    std::string certificate;  // and then 1 to 253 characters.
  };

  std::vector<Entry> entries;  // At least one; no token and no certificate twice.
  std::string session_key;     // 32 bytes, or empty.
};

// INVALID_ARGUMENT that names the line where `text` is not as above. Never quotes the text, which
// may be a secret in the wrong place.
absl::StatusOr<TokenFile> ParseTokenFile(absl::string_view text);

// Reads the file at `path`. Where there is none, makes it first, readable by its owner only, with
// one principal of each role (agent, extension, viewer, admin, runner, gateway) and random secrets;
// of several programs that start at once, one makes it and all read it. FAILED_PRECONDITION where
// group or others have access to it; INVALID_ARGUMENT as above; NOT_FOUND or PERMISSION_DENIED
// where it can be neither read nor made. All say what to do.
absl::StatusOr<TokenFile> LoadOrCreateTokenFile(const std::string& path);

// The same for a file that has to be there.
absl::StatusOr<TokenFile> LoadTokenFile(const std::string& path);

// What a gateway says of a file without a session key.
absl::Status SessionKeyMissing(const std::string& path);

// Changes the text of the file at `path`, which has to be valid before and after, in one step:
// whoever reads it meanwhile reads the one or the other. Its owner and mode stay. Callers at the
// same time take turns. Errors as above, and those of `edit`.
absl::Status EditTokenFile(
    const std::string& path,
    const std::function<absl::StatusOr<std::string>(const std::string& text)>& edit);

// What a line of the file says of a principal, without its secret, as in `client agent`.
std::string DescribePrincipal(const Principal& principal);

// A name for a token that does not tell it: the first 12 hexadecimal digits of its SHA-256.
std::string TokenFingerprint(absl::string_view token);

// A token that nobody has: 64 hexadecimal digits.
std::string NewToken();

}  // namespace callslip

#endif  // CALLSLIP_AUTH_TOKEN_FILE_H_
