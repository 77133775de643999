#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/url.h"
#include "gateway/oauth/document_source.h"
#include "gateway/oauth/key_set.h"

namespace callslip::gateway {

// The possible URLs of an authorization server's metadata, in the order that MCP's authorization
// (2025-11-25) requires: RFC 8414, then OpenID Connect with the issuer's path after and before the
// well-known part.
std::vector<Url> MetadataUrls(const Url& issuer);

// Where users authorize a client, and where the client gets its tokens. Not set if the server has
// none, or one that is not over https.
struct LoginEndpoints {
  std::optional<Url> authorization;
  std::optional<Url> token;
};

struct FetchedKeys {
  KeySet keys;
  LoginEndpoints endpoints;
  std::optional<absl::Duration> max_age;  // How long the keys are valid, if the server specifies
                                          // it.
};

// Finds the metadata of `issuer`, finds the URL of its keys there, and fetches them. Blocks, for at
// most four documents. UNAVAILABLE with the reason if that fails, if the metadata is of another
// issuer, or if its keys are not over https (for an issuer on this machine, http on this machine is
// allowed).
absl::StatusOr<FetchedKeys> FetchIssuerKeys(const std::string& issuer, DocumentSource& source);

}  // namespace callslip::gateway
