#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "boost/asio/io_context.hpp"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/issuer_fixture.h"
#include "gateway/oauth/oauth_config.h"
#include "gateway/oauth/resource_server.h"
#include "gtest/gtest.h"

namespace callslip::gateway {

inline constexpr char kIssuer[] = "https://as.example";
inline constexpr char kResource[] = "https://gw.example/mcp";
inline constexpr char kMetadataUrl[] = "https://as.example/.well-known/oauth-authorization-server";
inline constexpr char kKeysUrl[] = "https://as.example/keys";

// Shared, because keys take a while to generate.
inline const TestKey& RsaTestKey() {
  static const TestKey& key = *new TestKey(TestKey::Rsa());
  return key;
}
inline const TestKey& EcTestKey() {
  static const TestKey& key = *new TestKey(TestKey::Ec());
  return key;
}
inline const TestKey& EdTestKey() {
  static const TestKey& key = *new TestKey(TestKey::Ed25519());
  return key;
}

// A resource server, the authorization server that it trusts, and tokens.
class ResourceServerTest : public testing::Test {
 protected:
  ResourceServerTest() {
    documents_.Put(kMetadataUrl, Json{{"issuer", kIssuer}, {"jwks_uri", kKeysUrl}}.dump());
    PutKeys({RsaTestKey().Jwk("rsa"), EcTestKey().Jwk("ec"), EdTestKey().Jwk("ed")});
  }

  void PutKeys(const std::vector<Json>& keys) { documents_.Put(kKeysUrl, KeySetText(keys)); }

  OAuthConfig Config() const {
    OAuthConfig config;
    config.issuer = kIssuer;
    config.resource = kResource;
    return config;
  }

  void Start(const OAuthConfig& config, absl::Duration longest_wait = absl::Minutes(1)) {
    server_ = ResourceServer::Start(config, {.executor = context_.get_executor(),
                                             .clock = &clock_,
                                             .wall_time = [this] { return clock_.Now(); },
                                             .source = std::make_unique<FakeSource>(&documents_),
                                             .longest_wait = longest_wait});
  }
  // Start(), and returns once it has keys.
  void StartWithKeys() {
    Start(Config());
    AwaitFetch();
  }
  // Returns once the fetching thread is idle.
  void AwaitFetch() {
    clock_.AwaitSleep();
    Poll();
  }
  void Poll() {
    context_.restart();
    context_.poll();
  }

  using Answer = std::shared_ptr<std::optional<absl::StatusOr<CredentialPtr>>>;
  Answer Ask(const std::string& token) {
    auto answer = std::make_shared<std::optional<absl::StatusOr<CredentialPtr>>>();
    server_->Verify(token, "", [answer](absl::StatusOr<CredentialPtr> verified) {
      answer->emplace(std::move(verified));
    });
    return answer;
  }
  // The result for a token that need not wait.
  absl::StatusOr<CredentialPtr> AskNow(const std::string& token) {
    const Answer answer = Ask(token);
    if (!answer->has_value()) return absl::InternalError("it waits");
    return **answer;
  }
  // "OK", or the reason of the refusal.
  std::string ReasonOf(const std::string& token) {
    const absl::StatusOr<CredentialPtr> answer = AskNow(token);
    if (answer.ok()) return "OK";
    const std::string reason = DetailsOf(answer.status()).reason;
    return reason.empty() ? std::string(answer.status().message()) : reason;
  }

  static Json Header(const char* algorithm, const char* kid) {
    return {{"alg", algorithm}, {"typ", "at+jwt"}, {"kid", kid}};
  }
  Json Claims() {
    const int64_t now = absl::ToUnixSeconds(clock_.Now());
    return {{"iss", kIssuer}, {"aud", kResource},
            {"sub", "alice"}, {"client_id", "inspector"},
            {"iat", now},     {"exp", now + 300},
            {"jti", "1"},     {"scope", "openid callslip.client"}};
  }
  std::string GoodToken(const char* subject = "alice") {
    Json claims = Claims();
    claims["sub"] = subject;
    return Token(Header("ES256", "ec"), claims, EcTestKey());
  }

  int fetches() const { return documents_.requests(kKeysUrl); }

  FakeClock clock_;
  FakeDocuments documents_;
  boost::asio::io_context context_;
  std::shared_ptr<ResourceServer> server_;
};

}  // namespace callslip::gateway
