#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// How two parties that share a token prove that to each other without sending it: the request is
// signed with the token, and the response carries a proof (docs/http.md, docs/adr/0013). Both are
// HMAC-SHA256 with the token's bytes as the key, in 64 lower-case hexadecimal digits.
namespace callslip {

// The response header with the proof.
inline constexpr char kProofHeader[] = "Callslip-Proof";

// The signed parts of a request, exactly as sent.
struct RequestToSign {
  absl::string_view method;
  absl::string_view host;    // The Host header.
  absl::string_view target;  // Path and query.
  absl::string_view body;
};

// The content of a signed request's Authorization header.
struct RequestSignature {
  std::string key;      // TokenFingerprint() of the token.
  int64_t time_ms = 0;  // Since 1970, by the signer's clock.
  std::string nonce;    // 32 lower-case hexadecimal digits, unique to this request.
  std::string mac;
};

RequestSignature SignRequest(absl::string_view token, const RequestToSign& request, int64_t time_ms,
                             absl::string_view nonce);

// Whether `signature` was made for this request with this token. Its timing does not reveal how
// much of the signature is right. Checks neither the clock nor reuse of the nonce.
bool IsSignatureOf(absl::string_view token, const RequestToSign& request,
                   const RequestSignature& signature);

// `Callslip-HMAC key="…", time="…", nonce="…", mac="…"`.
std::string FormatSignature(const RequestSignature& signature);

// Whether this is an Authorization header of this scheme, well-formed or not.
bool IsSignatureHeader(absl::string_view authorization);

// Nullopt unless it has the form above: the four members in any order, each once.
std::optional<RequestSignature> ParseSignature(absl::string_view authorization);

// The proof for the response to the request with `nonce`. Without `body`, for a streamed response:
// the proof then covers only the status.
std::string ProveAnswer(absl::string_view token, absl::string_view nonce, int status,
                        std::optional<absl::string_view> body);

// Whether `proof` is that proof. Its timing does not reveal how much of it is right.
bool IsProofOf(absl::string_view token, absl::string_view nonce, int status,
               std::optional<absl::string_view> body, absl::string_view proof);

}  // namespace callslip
