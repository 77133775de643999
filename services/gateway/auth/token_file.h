#ifndef CALLSLIP_GATEWAY_AUTH_TOKEN_FILE_H_
#define CALLSLIP_GATEWAY_AUTH_TOKEN_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gateway/auth/principal.h"

namespace callslip::gateway {

// The secrets of a gateway. In the file, one line for each, and comments after '#':
//   ROLE NAME TOKEN        the principal NAME, which presents TOKEN
//   session-key - HEX      the key that signs the ids of MCP sessions
struct TokenFile {
  struct Entry {
    Principal principal;
    std::string token;  // 32 to 512 characters that may stand in an Authorization header.
  };

  std::vector<Entry> entries;  // At least one; no name and no token twice.
  std::string session_key;     // 32 bytes.
};

// INVALID_ARGUMENT that names the line where `text` is not as above. Never quotes the text, which
// may be a secret in the wrong place.
absl::StatusOr<TokenFile> ParseTokenFile(absl::string_view text);

// Reads the file at `path`. Where there is none, makes it first, readable by its owner only, with
// one principal of each role (agent, extension, viewer, admin) and random secrets; of several
// gateways that start at once, one makes it and all read it. FAILED_PRECONDITION where group or
// others have access to it; INVALID_ARGUMENT as above; NOT_FOUND or PERMISSION_DENIED where it can
// be neither read nor made. All say what to do.
absl::StatusOr<TokenFile> LoadOrCreateTokenFile(const std::string& path);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_AUTH_TOKEN_FILE_H_
