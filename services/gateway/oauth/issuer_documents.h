#ifndef CALLSLIP_GATEWAY_OAUTH_ISSUER_DOCUMENTS_H_
#define CALLSLIP_GATEWAY_OAUTH_ISSUER_DOCUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/oauth/document_source.h"
#include "gateway/oauth/key_set.h"
#include "gateway/oauth/url.h"

namespace callslip::gateway {

// Where the metadata of an authorization server may be, in the order in which the authorization of
// MCP (2025-11-25) has them tried: RFC 8414, then OpenID Connect with the issuer's path after and
// before the well-known part.
std::vector<Url> MetadataUrls(const Url& issuer);

// Where people agree to a client, and where that gets its tokens. Not set where the server has
// none, or one that is not over https.
struct LoginEndpoints {
  std::optional<Url> authorization;
  std::optional<Url> token;
};

struct FetchedKeys {
  KeySet keys;
  LoginEndpoints endpoints;
  std::optional<absl::Duration> max_age;  // What the server says of how long they last.
};

// Finds the metadata of `issuer`, and in it where its keys are, and fetches these. Blocks, for at
// most four documents. UNAVAILABLE, which says what is wrong, where that fails: where the metadata
// is of another issuer, or its keys are not over https (of an issuer on this machine, http on this
// machine will do).
absl::StatusOr<FetchedKeys> FetchIssuerKeys(const std::string& issuer, DocumentSource& source);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_ISSUER_DOCUMENTS_H_
