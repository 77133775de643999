#include "gateway/mcp/protocol/session_id.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "auth/same_secret.h"
#include "auth/sha256.h"

namespace callslip::gateway {
namespace {

// Limited because clients send the id in a header with each request.
constexpr size_t kMaxBytes = 256;
// Half of a SHA-256: 128 bits cannot be guessed.
constexpr size_t kSignatureBytes = 16;

}  // namespace

std::string SessionIds::Sign(absl::string_view payload) const {
  const Sha256Digest mac = HmacSha256(key_, payload);
  return absl::WebSafeBase64Escape(AsBytes(mac).substr(0, kSignatureBytes));
}

std::string SessionIds::Issue(const SessionInfo& session) const {
  const std::string payload = absl::WebSafeBase64Escape(absl::StrCat(
      session.protocol_version, " ", session.principal, " ", session.id, " ", session.client));
  return absl::StrCat(payload, ".", Sign(payload));
}

std::optional<SessionInfo> SessionIds::Verify(absl::string_view text) const {
  if (text.size() > kMaxBytes) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('.', 1));
  // Compares the encoded texts, not the decoded bytes: of the many base64 spellings of the same
  // bytes, only one is valid.
  if (!IsSameSecret(parts.second, Sign(parts.first))) return std::nullopt;
  // From here on the text is known to have been issued, perhaps by another version of this program.
  std::string payload;
  if (!absl::WebSafeBase64Unescape(parts.first, &payload)) return std::nullopt;
  std::vector<std::string> fields = absl::StrSplit(payload, absl::MaxSplits(' ', 3));
  if (fields.size() != 4) return std::nullopt;
  return SessionInfo{std::move(fields[0]), std::move(fields[1]), std::move(fields[2]),
                     std::move(fields[3])};
}

}  // namespace callslip::gateway
