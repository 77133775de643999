// Access tokens of callers, and published keys of authorization servers: the first byte chooses the
// parser for the rest. On any input the parsers return, and no unsigned token verifies.
#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/url.h"
#include "fuzz/require.h"
#include "gateway/oauth/access_token.h"
#include "gateway/oauth/jwt.h"
#include "gateway/oauth/key_set.h"
#include "gateway/oauth/scope_roles.h"

namespace callslip::gateway {
namespace {

// Well-known keys: the generator of P-256, and the key of RFC 8037.
const KeySet& Keys() {
  static const KeySet& keys = *new KeySet(*KeySet::Parse(R"({"keys":[
      {"kty":"EC","crv":"P-256","kid":"ec",
       "x":"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
       "y":"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"},
      {"kty":"OKP","crv":"Ed25519","kid":"ed",
       "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})"));
  Require(keys.usable() == 2, "two keys");
  return keys;
}

void TakeToken(const std::string& text) {
  const absl::StatusOr<Jwt> jwt = ParseJwt(text);
  if (!jwt.ok()) {
    Require(absl::IsUnauthenticated(jwt.status()), "a refusal");
    return;
  }
  Require(text.size() <= kMaxJwtBytes, "a bounded token");
  Require(jwt->claims.is_object(), "claims");
  Require(jwt->key_id.size() <= 128, "a bounded name of a key");
  Require(absl::StrCat(jwt->signed_part, ".", absl::WebSafeBase64Escape(jwt->signature)) == text,
          "one text for each token");
  const TokenRules rules{
      .issuer = "https://as.example", .resource = "https://gw.example", .principal_claim = "sub"};
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  const absl::StatusOr<AccessToken> token = CheckClaims(jwt->claims, rules, now);
  if (token.ok()) {
    Require(token->expires > now, "a token that lasts");
    Require(IsPrincipalName(ProviderPrincipalName(rules.issuer, token->caller)), "a name");
  }
  const absl::StatusOr<PublicKey> key = Keys().Find(jwt->key_id, jwt->algorithm);
  if (key.ok()) Require(!key->Verifies(jwt->signed_part, jwt->signature), "no signature");
}

void TakeKeys(const std::string& text) {
  const absl::StatusOr<KeySet> keys = KeySet::Parse(text);
  if (!keys.ok()) return;
  Require(keys->size() <= KeySet::kMaxKeys && keys->usable() <= keys->size(), "a bounded number");
  for (const JwtAlgorithm algorithm :
       {JwtAlgorithm::kRs256, JwtAlgorithm::kEs256, JwtAlgorithm::kEdDsa}) {
    const absl::StatusOr<PublicKey> key = keys->Find("k", algorithm);
    if (key.ok()) Require(keys->Has(*key) && key->algorithm() == algorithm, "the key of a name");
  }
}

}  // namespace
}  // namespace callslip::gateway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace callslip::gateway;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: TakeToken(text); break;
    case 1: {
      // The fuzzer need not know base64: three lines.
      const size_t first = text.find('\n');
      const size_t last = text.rfind('\n');
      if (first == last) return 0;
      TakeToken(absl::StrCat(absl::WebSafeBase64Escape(text.substr(0, first)), ".",
                             absl::WebSafeBase64Escape(text.substr(first + 1, last - first - 1)),
                             ".", absl::WebSafeBase64Escape(text.substr(last + 1))));
      break;
    }
    case 2: TakeKeys(text); break;
    default: (void)callslip::ParseUrl(text);
  }
  return 0;
}
