#include "gateway/oauth/resource_server.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "boost/asio/post.hpp"
#include "common/error_details.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/url.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/refusal.h"

namespace callslip::gateway {
namespace {

constexpr char kMetadataPath[] = "/.well-known/oauth-protected-resource";
// Enough to diagnose a problem; any client can cause any number of refusals.
constexpr int kLoggedRefusals = 5;  // Per second.

absl::Status KeysUnavailable() {
  return ErrorWithDetails(absl::StatusCode::kUnavailable,
                          "The keys of the authorization server could not be fetched yet.",
                          {.reason = "keys_unavailable",
                           .hint = "Try again in half a minute; the gateway's log says what fails.",
                           .retry_after = IssuerKeys::kMinInterval});
}

absl::Status NoRole() {
  return ErrorWithDetails(absl::StatusCode::kPermissionDenied,
                          "None of the token's scopes gives a role here.",
                          {.reason = "insufficient_scope"});
}

bool NewerKeysMayHelp(const absl::Status& status) {
  return absl::IsUnavailable(status) || DetailsOf(status).reason == "key_unknown";
}

// The path of the metadata of `resource`: the well-known path, then its own.
std::string MetadataPath(const Url& resource) {
  return absl::StrCat(kMetadataPath, resource.path == "/" ? "" : resource.path);
}

// Requires a valid URL.
Url ResourceUrl(const OAuthConfig& config) { return *ParseUrl(config.resource); }

}  // namespace

std::shared_ptr<ResourceServer> ResourceServer::Start(const OAuthConfig& config,
                                                      Surroundings surroundings) {
  std::shared_ptr<ResourceServer> server(new ResourceServer(config, surroundings));
  auto on_fetched = [weak = server->weak_from_this(), executor = server->executor_] {
    boost::asio::post(executor, [weak] {
      if (const auto self = weak.lock(); self != nullptr) self->OnKeysFetched();
    });
  };
  server->keys_.emplace(config.issuer, std::move(surroundings.source), surroundings.clock,
                        std::move(on_fetched));
  return server;
}

ResourceServer::ResourceServer(const OAuthConfig& config, Surroundings& surroundings)
    : rules_{.issuer = config.issuer,
             .resource = config.resource,
             .principal_claim = config.principal_claim},
      roles_(*ScopeRoles::Parse(config.scopes)),
      metadata_path_(MetadataPath(ResourceUrl(config))),
      challenge_{.resource_metadata = absl::StrCat(ResourceUrl(config).Origin(), metadata_path_),
                 .scopes = roles_.entries()},
      executor_(surroundings.executor),
      wall_time_(surroundings.wall_time),
      longest_wait_(surroundings.longest_wait),
      refusals_(surroundings.clock, kLoggedRefusals),
      timer_(executor_) {}

ResourceServer::~ResourceServer() = default;

void ResourceServer::Verify(const std::string& token, const std::string& /*address*/, Done done) {
  absl::StatusOr<CredentialPtr> verified = Check(token);
  if (!verified.ok() && NewerKeysMayHelp(verified.status())) {
    if (waiting_.size() < kMaxWaiting && keys_->Renew()) return Hold(token, std::move(done));
    // A fetch may have ended between Check() and Renew().
    verified = Check(token);
  }
  Answer(std::move(verified), std::move(done));
}

absl::StatusOr<CredentialPtr> ResourceServer::Check(const std::string& token) {
  const absl::Time now = wall_time_();
  if (CredentialPtr known = cache_.Find(token, now); known != nullptr) return known;
  ASSIGN_OR_RETURN(const Signed read, Read(token, now));
  return Admit(token, read.claims, read.key);
}

absl::StatusOr<ResourceServer::Signed> ResourceServer::Read(const std::string& token,
                                                            absl::Time now) const {
  ASSIGN_OR_RETURN(const Jwt jwt, ParseJwt(token));
  // Before the signature, so that a token for another resource does not cause a fetch of keys.
  ASSIGN_OR_RETURN(AccessToken claims, CheckClaims(jwt.claims, rules_, now));
  const std::shared_ptr<const KeySet> keys = keys_->keys();
  if (keys == nullptr) return KeysUnavailable();
  ASSIGN_OR_RETURN(PublicKey key, keys->Find(jwt.key_id, jwt.algorithm));
  if (!key.Verifies(jwt.signed_part, jwt.signature)) {
    return TokenRefused("signature_wrong", "The token's signature is wrong.");
  }
  return Signed{std::move(claims), std::move(key)};
}

absl::StatusOr<CredentialPtr> ResourceServer::Admit(absl::string_view name,
                                                    const AccessToken& claims,
                                                    const PublicKey& key) {
  const std::optional<Role> role = roles_.RoleOf(claims.scopes);
  if (!role.has_value()) return NoRole();
  Principal principal{.name = ProviderPrincipalName(rules_.issuer, claims.caller), .role = *role};
  auto credential = std::make_shared<Credential>(std::move(principal), claims.expires);
  cache_.Add(name, credential, key);
  return credential;
}

absl::StatusOr<Grant> ResourceServer::GrantOf(const std::string& token) {
  ASSIGN_OR_RETURN(const Signed read, Read(token, wall_time_()));
  // Omits scopes that give no role here; there may be many.
  std::vector<std::string> scopes;
  for (const auto& [scope, role] : roles_.entries()) {
    if (absl::c_linear_search(read.claims.scopes, scope)) scopes.push_back(scope);
  }
  return Grant{.caller = read.claims.caller,
               .scopes = std::move(scopes),
               .key = read.key.Thumbprint(),
               .expires = read.claims.expires};
}

absl::StatusOr<CredentialPtr> ResourceServer::Find(const Grant& grant) {
  // No token has this form.
  const std::string name = absl::StrCat(grant.key, "\n", absl::ToUnixSeconds(grant.expires), "\n",
                                        grant.caller, "\n", absl::StrJoin(grant.scopes, "\n"));
  const absl::Time now = wall_time_();
  if (CredentialPtr known = cache_.Find(name, now); known != nullptr) return known;
  if (now >= grant.expires) return TokenRefused("token_expired", "The token has expired.");
  const std::shared_ptr<const KeySet> keys = keys_->keys();
  if (keys == nullptr) return KeysUnavailable();
  const std::optional<PublicKey> key = keys->FindThumbprint(grant.key);
  if (!key.has_value()) {
    // The key may be newer than the keys fetched so far.
    if (keys_->Renew()) return KeysUnavailable();
    return TokenRefused("key_unknown", "The key that has signed the token counts no more.");
  }
  return Admit(name, {grant.caller, grant.scopes, grant.expires}, *key);
}

void ResourceServer::Answer(absl::StatusOr<CredentialPtr> verified, Done done) {
  if (!verified.ok()) {
    if (const auto left_out = refusals_.Admit(); left_out.has_value()) {
      Log(LogLevel::kInfo, "token refused",
          {{"reason", DetailsOf(verified.status()).reason}, {"left_out", absl::StrCat(*left_out)}});
    }
  }
  std::move(done)(std::move(verified));
}

void ResourceServer::Hold(const std::string& token, Done done) {
  waiting_.push_back({token, std::move(done)});
  if (waiting_.size() > 1) return;
  timer_.expires_after(absl::ToChronoMilliseconds(longest_wait_));
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (!error && self != nullptr) self->AnswerWaiting();
  });
}

void ResourceServer::AnswerWaiting() {
  timer_.cancel();
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    Answer(Check(waiting.token), std::move(waiting.done));
  }
}

void ResourceServer::OnKeysFetched() {
  const std::shared_ptr<const KeySet> keys = keys_->keys();
  cache_.KeepSignedBy(keys == nullptr ? KeySet() : *keys);
  AnswerWaiting();
}

std::string ResourceServer::Metadata() const {
  Json scopes = Json::array();
  for (const auto& [scope, role] : roles_.entries()) scopes.push_back(scope);
  const Json metadata = {{"resource", rules_.resource},
                         {"authorization_servers", Json::array({rules_.issuer})},
                         {"scopes_supported", std::move(scopes)},
                         {"bearer_methods_supported", Json::array({"header"})}};
  return Dump(metadata);
}

void ResourceServer::AddRoutes(Router& router) {
  const auto handle = [body = Metadata()](std::shared_ptr<const HttpRequest>)
      -> boost::asio::awaitable<HttpResponse> { co_return HttpResponse{.body = body}; };
  router.AddOpen("GET", kMetadataPath, handle);
  if (metadata_path_ != kMetadataPath) router.AddOpen("GET", metadata_path_, handle);
}

}  // namespace callslip::gateway
