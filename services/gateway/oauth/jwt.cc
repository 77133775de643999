#include "gateway/oauth/jwt.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "gateway/json/json_members.h"
#include "gateway/oauth/refusal.h"

namespace callslip::gateway {
namespace {

constexpr size_t kMaxKeyIdBytes = 128;

// Keys that the sender chooses, extensions that a verifier must support, and nested tokens.
constexpr const char* kForbiddenHeaders[] = {"crit", "b64", "jwk", "jku", "x5u",
                                             "x5c",  "cty", "enc", "zip"};

absl::StatusOr<Json> DecodeObject(absl::string_view part, const char* reason, const char* message) {
  const std::optional<std::string> text = DecodeBase64Url(part);
  if (!text.has_value()) {
    return TokenRefused("token_malformed",
                        "A part of the token is not in base64url without padding.");
  }
  absl::StatusOr<Json> json = ParseJson(*text);
  if (!json.ok() || !json->is_object()) return TokenRefused(reason, message);
  return json;
}

absl::StatusOr<JwtAlgorithm> AlgorithmOf(const Json& header) {
  const std::string name = TextOf(header, "alg");
  if (name == "RS256") return JwtAlgorithm::kRs256;
  if (name == "ES256") return JwtAlgorithm::kEs256;
  if (name == "EdDSA") return JwtAlgorithm::kEdDsa;
  return TokenRefused("algorithm_not_allowed",
                      "The token is not signed with RS256, ES256 or EdDSA.");
}

absl::Status CheckHeader(const Json& header) {
  for (const char* name : kForbiddenHeaders) {
    if (header.contains(name)) {
      return TokenRefused("header_not_allowed",
                          "The token's header has one of crit, b64, jwk, jku, x5u, x5c, cty, enc "
                          "and zip.");
    }
  }
  const std::string type = absl::AsciiStrToLower(TextOf(header, "typ"));
  if (type != "at+jwt" && type != "application/at+jwt") {
    return TokenRefused("type_not_allowed",
                        "The token is not an access token of type at+jwt (RFC 9068).");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> KeyIdOf(const Json& header) {
  const auto member = header.find("kid");
  if (member == header.end()) return "";
  const std::string id = TextOf(header, "kid");
  if (id.empty() || id.size() > kMaxKeyIdBytes || !absl::c_all_of(id, absl::ascii_isgraph)) {
    return TokenRefused("key_id_malformed",
                        "The token's kid is not 1 to 128 printable characters of ASCII.");
  }
  return id;
}

}  // namespace

std::optional<std::string> DecodeBase64Url(absl::string_view text) {
  std::string bytes;
  // The library accepts padding, spaces and stray bits at the end.
  if (!absl::WebSafeBase64Unescape(text, &bytes)) return std::nullopt;
  if (absl::WebSafeBase64Escape(bytes) != text) return std::nullopt;
  return bytes;
}

absl::StatusOr<Jwt> ParseJwt(const std::string& text) {
  if (text.size() > kMaxJwtBytes) {
    return TokenRefused("token_too_large", "The token is larger than 16 KiB.");
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  if (parts.size() == 5) {
    return TokenRefused("token_encrypted", "The token is encrypted; it has to be signed only.");
  }
  if (parts.size() != 3) {
    return TokenRefused("token_malformed", "The token is not a signed JWT of three parts.");
  }
  Jwt jwt;
  ASSIGN_OR_RETURN(
      const Json header,
      DecodeObject(parts[0], "header_malformed",
                   "The token's header is not one JSON object with each member once."));
  ASSIGN_OR_RETURN(jwt.algorithm, AlgorithmOf(header));
  RETURN_IF_ERROR(CheckHeader(header));
  ASSIGN_OR_RETURN(jwt.key_id, KeyIdOf(header));
  ASSIGN_OR_RETURN(
      jwt.claims,
      DecodeObject(parts[1], "claims_malformed",
                   "The token's claims are not one JSON object with each member once."));
  std::optional<std::string> signature = DecodeBase64Url(parts[2]);
  if (!signature.has_value()) {
    return TokenRefused("token_malformed", "The signature is not in base64url without padding.");
  }
  jwt.signature = *std::move(signature);
  jwt.signed_part = absl::StrCat(parts[0], ".", parts[1]);
  return jwt;
}

}  // namespace callslip::gateway
