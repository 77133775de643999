#include "auth/request_signature.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "auth/same_secret.h"
#include "auth/sha256.h"
#include "auth/token_file.h"
#include "common/text_scan.h"

namespace callslip {
namespace {

constexpr absl::string_view kScheme = "Callslip-HMAC ";
constexpr size_t kKeyDigits = 12;
constexpr size_t kNonceDigits = 32;
constexpr size_t kMacDigits = 64;
constexpr size_t kMaxTimeDigits = 15;  // About 30,000 years.

std::string Hex(const Sha256Digest& digest) { return absl::BytesToHexString(AsBytes(digest)); }

std::string Mac(absl::string_view token, absl::string_view text) {
  return Hex(HmacSha256(token, text));
}

std::string RequestMac(absl::string_view token, const RequestToSign& request, int64_t time_ms,
                       absl::string_view nonce) {
  return Mac(token, absl::StrCat("callslip request 1\n", request.method, "\n", request.host, "\n",
                                 request.target, "\n", time_ms, "\n", nonce, "\n",
                                 Hex(Sha256(request.body))));
}

// Sets the member `name`; false if there is no such member or its value is malformed.
bool SetMember(absl::string_view name, absl::string_view value, RequestSignature& signature) {
  if (name == "key") signature.key = std::string(value);
  if (name == "nonce") signature.nonce = std::string(value);
  if (name == "mac") signature.mac = std::string(value);
  if (name == "key") return value.size() == kKeyDigits && IsLowerHex(value);
  if (name == "nonce") return value.size() == kNonceDigits && IsLowerHex(value);
  if (name == "mac") return value.size() == kMacDigits && IsLowerHex(value);
  return name == "time" && value.size() <= kMaxTimeDigits &&
         absl::c_all_of(value, absl::ascii_isdigit) && absl::SimpleAtoi(value, &signature.time_ms);
}

}  // namespace

RequestSignature SignRequest(absl::string_view token, const RequestToSign& request, int64_t time_ms,
                             absl::string_view nonce) {
  return {.key = TokenFingerprint(token),
          .time_ms = time_ms,
          .nonce = std::string(nonce),
          .mac = RequestMac(token, request, time_ms, nonce)};
}

bool IsSignatureOf(absl::string_view token, const RequestToSign& request,
                   const RequestSignature& signature) {
  return IsSameSecret(RequestMac(token, request, signature.time_ms, signature.nonce),
                      signature.mac);
}

std::string FormatSignature(const RequestSignature& signature) {
  return absl::StrCat(kScheme, "key=\"", signature.key, "\", time=\"", signature.time_ms,
                      "\", nonce=\"", signature.nonce, "\", mac=\"", signature.mac, "\"");
}

bool IsSignatureHeader(absl::string_view authorization) {
  return absl::StartsWithIgnoreCase(authorization, kScheme);
}

std::optional<RequestSignature> ParseSignature(absl::string_view authorization) {
  if (!IsSignatureHeader(authorization)) return std::nullopt;
  const std::vector<absl::string_view> members =
      absl::StrSplit(authorization.substr(kScheme.size()), ',');
  if (members.size() != 4) return std::nullopt;
  RequestSignature signature;
  std::vector<absl::string_view> names;
  for (absl::string_view member : members) {
    const size_t equals = member.find('=');
    if (equals == absl::string_view::npos) return std::nullopt;
    const absl::string_view name = absl::StripAsciiWhitespace(member.substr(0, equals));
    absl::string_view value = absl::StripAsciiWhitespace(member.substr(equals + 1));
    const bool is_quoted = absl::ConsumePrefix(&value, "\"") && absl::ConsumeSuffix(&value, "\"");
    if (!is_quoted || absl::c_linear_search(names, name)) return std::nullopt;
    if (!SetMember(name, value, signature)) return std::nullopt;
    names.push_back(name);
  }
  return signature;
}

std::string ProveAnswer(absl::string_view token, absl::string_view nonce, int status,
                        std::optional<absl::string_view> body) {
  return Mac(token, absl::StrCat("callslip answer 1\n", nonce, "\n", status, "\n",
                                 body.has_value() ? Hex(Sha256(*body)) : "stream"));
}

bool IsProofOf(absl::string_view token, absl::string_view nonce, int status,
               std::optional<absl::string_view> body, absl::string_view proof) {
  return IsSameSecret(ProveAnswer(token, nonce, status, body), proof);
}

}  // namespace callslip
