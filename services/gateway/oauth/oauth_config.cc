#include "gateway/oauth/oauth_config.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/status_macros.h"
#include "common/url.h"
#include "gateway/oauth/scope_roles.h"

namespace callslip::gateway {
namespace {

// Both URLs are compared byte by byte with those that other programs send, and neither may have a
// query, because well-known paths are derived from them.
absl::Status CheckUrl(absl::string_view option, const std::string& text) {
  const absl::StatusOr<Url> url = ParseUrl(text);
  if (!url.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" in ", option, ": ", url.status().message()));
  }
  if (!url->IsTrustworthy()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" in ", option,
                     " has to begin with https://; http is for this machine only"));
  }
  if (url->path.find_first_of("?%") != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" in ", option, " may have neither a query nor a % in its path"));
  }
  return absl::OkStatus();
}

}  // namespace

void OAuthConfig::AddTo(OptionSet& options) {
  options.Add("oauth-issuer", &issuer,
              "The authorization server whose access tokens are taken: its issuer identifier, an "
              "https URL. Without it none are");
  options.Add("oauth-resource", &resource,
              "The URL at which clients know this gateway, such as https://gw.example/mcp; tokens "
              "have to be for it");
  options.Add("oauth-scopes", &scopes,
              "The role that a scope gives, SCOPE=ROLE each; of several, the one with the most "
              "rights counts");
  options.Add("oauth-principal-claim", &principal_claim,
              "The claim that identifies a caller; it becomes the owner of its commands");
  options.Add(
      "oauth-ca", &ca_file,
      "File with the certificates of the authorities that --oauth-issuer is believed by, in "
      "PEM; those of this machine without it");
  options.Add("oauth-page-client", &page_client,
              "The id of the gateway's page as a public client of --oauth-issuer; people log in "
              "there then. Its redirect URI is the page's address and /ui/login");
}

absl::Status OAuthConfig::Validate() const {
  if (issuer.empty() != resource.empty()) {
    return absl::InvalidArgumentError(
        "--oauth-issuer and --oauth-resource belong together: set both, or neither");
  }
  if (!is_on() && !page_client.empty()) {
    return absl::InvalidArgumentError("--oauth-page-client needs --oauth-issuer");
  }
  if (!is_on()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckUrl("--oauth-issuer", issuer));
  RETURN_IF_ERROR(CheckUrl("--oauth-resource", resource));
  if (principal_claim.empty()) {
    return absl::InvalidArgumentError(
        "--oauth-principal-claim is empty: write the name of a claim");
  }
  return ScopeRoles::Parse(scopes).status();
}

}  // namespace callslip::gateway
