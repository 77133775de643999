#include "gateway/oauth/issuer_documents.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

constexpr absl::string_view kOAuth = "/.well-known/oauth-authorization-server";
constexpr absl::string_view kOpenId = "/.well-known/openid-configuration";

Url WithPath(Url url, std::string path) {
  url.path = std::move(path);
  return url;
}

absl::Status Failure(const Url& url, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat(url.Origin(), url.path, ": ", why));
}

// A URL in the metadata; nullopt if there is none, or it must not be used.
std::optional<Url> UrlIn(const Json& metadata, const char* name, const Url& issuer) {
  const absl::StatusOr<Url> url = ParseUrl(TextOf(metadata, name));
  const bool is_trial = !issuer.is_https;
  if (!url.ok() || !(url->is_https || (is_trial && url->IsTrustworthy()))) return std::nullopt;
  return *url;
}

struct Metadata {
  Json json;
  Url keys;
};

// The metadata of `issuer` at `url`. NOT_FOUND if the server has something else there: for unknown
// paths, some servers respond with 400, 403, a redirect or a page. So are metadata that do not say
// where the keys are: RFC 8414 does not require that, unlike OpenID Connect.
absl::StatusOr<Metadata> FetchMetadataAt(const Url& url, const std::string& issuer,
                                         const Url& issuer_url, DocumentSource& source) {
  ASSIGN_OR_RETURN(const Document document, source.Get(url));
  absl::StatusOr<Json> metadata = ParseObject(document.body);
  if (!metadata.ok()) return absl::NotFoundError(metadata.status().message());
  if (TextOf(*metadata, "issuer") != issuer) {
    return absl::NotFoundError(absl::StrCat("its issuer is not ", issuer));
  }
  std::optional<Url> keys = UrlIn(*metadata, "jwks_uri", issuer_url);
  if (!keys.has_value()) {
    return absl::NotFoundError("it has no jwks_uri, or one that is not over https");
  }
  return Metadata{.json = *std::move(metadata), .keys = *std::move(keys)};
}

// The metadata. If it is not at one URL, tries the next.
absl::StatusOr<Metadata> FetchMetadata(const std::string& issuer, const Url& issuer_url,
                                       DocumentSource& source) {
  std::vector<std::string> failures;
  for (const Url& url : MetadataUrls(issuer_url)) {
    absl::StatusOr<Metadata> metadata = FetchMetadataAt(url, issuer, issuer_url, source);
    if (metadata.ok()) return metadata;
    failures.emplace_back(Failure(url, metadata.status().message()).message());
    // An unreachable server is also unreachable at its other URLs.
    if (!absl::IsNotFound(metadata.status())) break;
  }
  return absl::UnavailableError(absl::StrJoin(failures, "; "));
}

}  // namespace

std::vector<Url> MetadataUrls(const Url& issuer) {
  const absl::string_view path = absl::StripSuffix(issuer.path, "/");
  std::vector<Url> urls = {WithPath(issuer, absl::StrCat(kOAuth, path)),
                           WithPath(issuer, absl::StrCat(kOpenId, path))};
  if (!path.empty()) urls.push_back(WithPath(issuer, absl::StrCat(path, kOpenId)));
  return urls;
}

absl::StatusOr<FetchedKeys> FetchIssuerKeys(const std::string& issuer, DocumentSource& source) {
  ASSIGN_OR_RETURN(const Url issuer_url, ParseUrl(issuer));
  ASSIGN_OR_RETURN(const Metadata metadata, FetchMetadata(issuer, issuer_url, source));
  const absl::StatusOr<Document> document = source.Get(metadata.keys);
  if (!document.ok()) return Failure(metadata.keys, document.status().message());
  absl::StatusOr<KeySet> keys = KeySet::Parse(document->body);
  if (!keys.ok()) return Failure(metadata.keys, keys.status().message());
  return FetchedKeys{
      .keys = *std::move(keys),
      .endpoints = {.authorization = UrlIn(metadata.json, "authorization_endpoint", issuer_url),
                    .token = UrlIn(metadata.json, "token_endpoint", issuer_url)},
      .max_age = document->max_age};
}

}  // namespace callslip::gateway
