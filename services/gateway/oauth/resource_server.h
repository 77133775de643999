#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/steady_timer.hpp"
#include "common/clock.h"
#include "common/log_limit.h"
#include "gateway/http/http_message.h"
#include "gateway/http/router.h"
#include "gateway/http/unauthorized.h"
#include "gateway/oauth/access_token.h"
#include "gateway/oauth/document_source.h"
#include "gateway/oauth/grants.h"
#include "gateway/oauth/issuer_keys.h"
#include "gateway/oauth/jwt.h"
#include "gateway/oauth/oauth_config.h"
#include "gateway/oauth/scope_roles.h"
#include "gateway/oauth/token_cache.h"

namespace callslip::gateway {

// The gateway as an OAuth 2.1 resource server: accepts the access tokens of one authorization
// server (RFC 9068) that are for this resource (RFC 8707), and publishes where to get them (RFC
// 9728).
//
// Use on one executor that runs one function at a time.
class ResourceServer final : public Grants, public std::enable_shared_from_this<ResourceServer> {
 public:
  struct Surroundings {
    boost::asio::any_io_executor executor;
    Clock* clock = nullptr;
    std::function<absl::Time()> wall_time = &WallTime;
    std::unique_ptr<DocumentSource> source;
    // How long a token with an unknown key may wait for keys that are being fetched.
    absl::Duration longest_wait = absl::Seconds(5);
  };
  // Tokens that wait for keys. Each holds its request.
  static constexpr size_t kMaxWaiting = 1000;

  // `config` must be valid and on. Fetches keys from now on.
  static std::shared_ptr<ResourceServer> Start(const OAuthConfig& config,
                                               Surroundings surroundings);
  // Drops waiting tokens.
  ~ResourceServer() override;

  // The reasons for UNAUTHENTICATED are those of ParseJwt(), CheckClaims() and KeySet::Find(), and
  // `signature_wrong`; for PERMISSION_DENIED `insufficient_scope`; for UNAVAILABLE, while there are
  // no keys, `keys_unavailable`.
  void Verify(const std::string& token, const std::string& address, Done done) override;
  absl::StatusOr<Grant> GrantOf(const std::string& token) override;
  absl::StatusOr<CredentialPtr> Find(const Grant& grant) override;

  // The challenge for callers without a token.
  const Challenge& challenge() const { return challenge_; }

  // The login endpoints that the authorization server has reported so far.
  LoginEndpoints endpoints() const { return keys_->endpoints(); }

  // The protected resource metadata (RFC 9728), as JSON.
  std::string Metadata() const;
  // Serves the metadata where clients look for it.
  void AddRoutes(Router& router);

 private:
  struct Waiting {
    std::string token;
    Done done;
  };

  ResourceServer(const OAuthConfig& config, Surroundings& surroundings);

  absl::StatusOr<CredentialPtr> Check(const std::string& token);
  // The content of a token with a correct signature.
  struct Signed {
    AccessToken claims;
    PublicKey key;
  };
  absl::StatusOr<Signed> Read(const std::string& token, absl::Time now) const;
  // Makes a credential for a caller with `claims`, cached under `name` as long as `key` is valid.
  absl::StatusOr<CredentialPtr> Admit(absl::string_view name, const AccessToken& claims,
                                      const PublicKey& key);
  void Answer(absl::StatusOr<CredentialPtr> verified, Done done);
  void Hold(const std::string& token, Done done);
  // Checks the waiting tokens with the current keys.
  void AnswerWaiting();
  void OnKeysFetched();

  const TokenRules rules_;
  const ScopeRoles roles_;
  const std::string metadata_path_;
  const Challenge challenge_;
  const boost::asio::any_io_executor executor_;
  const std::function<absl::Time()> wall_time_;
  const absl::Duration longest_wait_;
  LogLimit refusals_;
  TokenCache cache_;
  std::vector<Waiting> waiting_;
  boost::asio::steady_timer timer_;  // Runs while tokens wait.
  std::optional<IssuerKeys> keys_;   // Destroyed first, because its thread uses this object.
};

}  // namespace callslip::gateway
