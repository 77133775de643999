#ifndef CALLSLIP_AUTH_REQUEST_SIGNATURE_H_
#define CALLSLIP_AUTH_REQUEST_SIGNATURE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// How two that share a token show it to each other without sending it: a request is signed with it,
// and its answer carries a proof (docs/http.md, docs/adr/0013). Both are HMAC-SHA256 with the
// token's bytes as the key, in 64 lower-case hexadecimal digits.
namespace callslip {

// Of the answer.
inline constexpr char kProofHeader[] = "Callslip-Proof";

// What is signed of a request, all of it as it goes over the wire.
struct RequestToSign {
  absl::string_view method;
  absl::string_view host;    // The Host header.
  absl::string_view target;  // Path and query.
  absl::string_view body;
};

// What the Authorization header of a signed request says.
struct RequestSignature {
  std::string key;      // TokenFingerprint() of the token.
  int64_t time_ms = 0;  // Since 1970, by the signer's clock.
  std::string nonce;    // 32 lower-case hexadecimal digits, for this request alone.
  std::string mac;
};

RequestSignature SignRequest(absl::string_view token, const RequestToSign& request, int64_t time_ms,
                             absl::string_view nonce);

// True where it was made of this request, with this token. Takes no time that tells how much of it
// is right. Neither looks at the clock nor for what was signed before.
bool IsSignatureOf(absl::string_view token, const RequestToSign& request,
                   const RequestSignature& signature);

// `Callslip-HMAC key="…", time="…", nonce="…", mac="…"`.
std::string FormatSignature(const RequestSignature& signature);

// True for an Authorization header of this scheme, well-formed or not.
bool IsSignatureHeader(absl::string_view authorization);

// Nullopt where it is not as above: the four members in any order, each once.
std::optional<RequestSignature> ParseSignature(absl::string_view authorization);

// The proof for an answer to the request with `nonce`. Without `body`: of one that is streamed, of
// which it covers the status alone.
std::string ProveAnswer(absl::string_view token, absl::string_view nonce, int status,
                        std::optional<absl::string_view> body);

// True where `proof` is that. Takes no time that tells how much of it is right.
bool IsProofOf(absl::string_view token, absl::string_view nonce, int status,
               std::optional<absl::string_view> body, absl::string_view proof);

}  // namespace callslip

#endif  // CALLSLIP_AUTH_REQUEST_SIGNATURE_H_
