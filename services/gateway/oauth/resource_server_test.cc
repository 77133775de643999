#include "gateway/oauth/resource_server.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gateway/oauth/resource_server_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

TEST_F(ResourceServerTest, ValidTokenGivesPrincipalAndExpiry) {
  StartWithKeys();
  Json claims = Claims();
  ASSERT_OK_AND_ASSIGN(const CredentialPtr credential,
                       AskNow(Token(Header("RS256", "rsa"), claims, RsaTestKey())));
  EXPECT_EQ(credential->principal(), (Principal{"oauth-alice", Role::kClient}));
  EXPECT_EQ(credential->expires(), clock_.Now() + absl::Seconds(300));
}

TEST_F(ResourceServerTest, VerifiedTokenIsNotVerifiedAgain) {
  StartWithKeys();
  const std::string token = GoodToken();
  ASSERT_OK_AND_ASSIGN(const CredentialPtr first, AskNow(token));
  ASSERT_OK_AND_ASSIGN(const CredentialPtr second, AskNow(token));
  EXPECT_EQ(first, second);
  ASSERT_OK_AND_ASSIGN(const CredentialPtr other, AskNow(GoodToken("bob")));
  EXPECT_NE(first, other);
}

TEST_F(ResourceServerTest, CachedTokenIsRefusedOnceItHasExpired) {
  StartWithKeys();
  const std::string token = GoodToken();
  ASSERT_OK_AND_ASSIGN(const CredentialPtr credential, AskNow(token));
  clock_.Advance(absl::Seconds(299));
  EXPECT_EQ(ReasonOf(token), "OK");
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(ReasonOf(token), "token_expired");
  EXPECT_TRUE(credential->IsOver(clock_.Now()));
}

TEST_F(ResourceServerTest, GrantGivesSameRightsAsItsToken) {
  StartWithKeys();
  const std::string token = GoodToken();
  ASSERT_OK_AND_ASSIGN(const CredentialPtr by_token, AskNow(token));
  ASSERT_OK_AND_ASSIGN(Grant grant, server_->GrantOf(token));
  EXPECT_EQ((*server_->Find(grant))->expires(), by_token->expires());
  grant.expires += absl::Hours(1);
  ASSERT_OK_AND_ASSIGN(const CredentialPtr found, server_->Find(grant));
  EXPECT_EQ(found->principal(), by_token->principal());
  EXPECT_EQ(*server_->Find(grant), found);
  EXPECT_EQ(grant.scopes, std::vector<std::string>{"callslip.client"});
  // The grant of another caller is a different one.
  ASSERT_OK_AND_ASSIGN(const Grant of_bob, server_->GrantOf(GoodToken("bob")));
  EXPECT_NE((*server_->Find(of_bob))->principal(), found->principal());
  Grant scopeless = grant;
  scopeless.scopes = {"openid"};
  EXPECT_TRUE(absl::IsPermissionDenied(server_->Find(scopeless).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(
      server_->GrantOf(Token(Header("ES256", "ec"), Claims(), TestKey::Ec())).status()));
  // The key is revoked. Another key may have its id.
  PutKeys({TestKey::Ec().Jwk("ec")});
  clock_.Advance(IssuerKeys::kUsualAge);
  AwaitFetch();
  EXPECT_TRUE(found->IsRevoked());
  EXPECT_TRUE(absl::IsUnauthenticated(server_->Find(grant).status()));
  // An unknown key may be a new one: the grant is refused only after the keys were fetched again.
  clock_.Advance(IssuerKeys::kMinInterval);
  EXPECT_TRUE(absl::IsUnavailable(server_->Find(grant).status()));
  AwaitFetch();
  EXPECT_TRUE(absl::IsUnauthenticated(server_->Find(grant).status()));
}

TEST_F(ResourceServerTest, ExpiredGrantIsRefused) {
  StartWithKeys();
  ASSERT_OK_AND_ASSIGN(const Grant grant, server_->GrantOf(GoodToken()));
  clock_.Advance(absl::Seconds(300));
  EXPECT_TRUE(absl::IsUnauthenticated(server_->Find(grant).status()));
}

TEST_F(ResourceServerTest, GrantIsNotJudgedWithoutKeys) {
  documents_.Hold();
  Start(Config());
  documents_.AwaitHeld();
  const Grant grant = {.caller = "alice",
                       .scopes = {"callslip.client"},
                       .key = "of no key",
                       .expires = absl::InfiniteFuture()};
  EXPECT_TRUE(absl::IsUnavailable(server_->Find(grant).status()));
  documents_.Release();
  AwaitFetch();
  EXPECT_TRUE(absl::IsUnauthenticated(server_->Find(grant).status()));
}

TEST_F(ResourceServerTest, ScopeWithMostRightsDecides) {
  StartWithKeys();
  const auto role_of = [&](const char* scope) {
    Json claims = Claims();
    claims["scope"] = scope;
    const auto answer = AskNow(Token(Header("ES256", "ec"), claims, EcTestKey()));
    return answer.ok() ? RoleName((*answer)->principal().role) : "none";
  };
  EXPECT_EQ(role_of("callslip.work"), "worker");
  EXPECT_EQ(role_of("callslip.work callslip.view"), "viewer");
  EXPECT_EQ(role_of("callslip.view openid callslip.client"), "client");
  EXPECT_EQ(role_of("callslip.client callslip.admin callslip.work"), "admin");
  EXPECT_EQ(role_of("CALLSLIP.ADMIN"), "none");
}

TEST_F(ResourceServerTest, ClaimThatNamesCallerIsConfigurable) {
  OAuthConfig config = Config();
  config.principal_claim = "client_id";
  Start(config);
  AwaitFetch();
  ASSERT_OK_AND_ASSIGN(const CredentialPtr credential, AskNow(GoodToken()));
  EXPECT_EQ(credential->principal().name, "oauth-inspector");
  Json claims = Claims();
  claims.erase("client_id");
  EXPECT_EQ(ReasonOf(Token(Header("ES256", "ec"), claims, EcTestKey())), "principal_missing");
}

TEST_F(ResourceServerTest, OnlyKeyNeedsNoId) {
  PutKeys({EdTestKey().Jwk("")});
  StartWithKeys();
  Json header = Header("EdDSA", "");
  header.erase("kid");
  EXPECT_EQ(ReasonOf(Token(header, Claims(), EdTestKey())), "OK");
  EXPECT_EQ(ReasonOf(Token(Header("EdDSA", "ed"), Claims(), EdTestKey())), "key_unknown");
}

TEST_F(ResourceServerTest, TokenOfNewKeyWaitsForKeysAndIsAccepted) {
  PutKeys({EcTestKey().Jwk("ec")});
  StartWithKeys();
  const std::string token = Token(Header("RS256", "rsa"), Claims(), RsaTestKey());
  EXPECT_EQ(ReasonOf(token), "key_unknown");  // Half a minute has to pass first.
  EXPECT_EQ(fetches(), 1);

  PutKeys({EcTestKey().Jwk("ec"), RsaTestKey().Jwk("rsa")});
  clock_.Advance(IssuerKeys::kMinInterval);
  const Answer waiting = Ask(token);
  const Answer another = Ask(Token(Header("EdDSA", "ed"), Claims(), EdTestKey()));
  EXPECT_FALSE(waiting->has_value());
  EXPECT_EQ(ReasonOf(GoodToken()), "OK");  // Other tokens do not wait.
  AwaitFetch();
  ASSERT_TRUE(waiting->has_value());
  EXPECT_OK(**waiting);
  ASSERT_TRUE(another->has_value());
  EXPECT_THAT(**another, FailsWith(absl::StatusCode::kUnauthenticated, "key_unknown"));
  EXPECT_EQ(fetches(), 2);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(ReasonOf(Token(Header("EdDSA", absl::StrCat(i).c_str()), Claims(), EdTestKey())),
              "key_unknown");
  }
  AwaitFetch();
  EXPECT_EQ(fetches(), 2);
}

TEST_F(ResourceServerTest, WaitForKeysIsLimitedInTime) {
  documents_.Hold();
  Start(Config(), absl::Milliseconds(1));
  documents_.AwaitHeld();
  const Answer waiting = Ask(GoodToken());
  EXPECT_FALSE(waiting->has_value());
  context_.restart();
  while (!waiting->has_value()) context_.run_one();
  EXPECT_THAT(**waiting, FailsWith(absl::StatusCode::kUnavailable, "keys_unavailable"));
  documents_.Release();
}

TEST_F(ResourceServerTest, NumberOfWaitingCallersIsLimited) {
  documents_.Hold();
  Start(Config());
  std::vector<Answer> waiting;
  const std::string token = GoodToken();
  for (size_t i = 0; i < ResourceServer::kMaxWaiting; ++i) waiting.push_back(Ask(token));
  EXPECT_EQ(ReasonOf(token), "keys_unavailable");
  documents_.Release();
  AwaitFetch();
  for (const Answer& answer : waiting) {
    ASSERT_TRUE(answer->has_value());
    EXPECT_OK(**answer);
  }
}

TEST_F(ResourceServerTest, MissingKeysAreReportedAndFetchedAgain) {
  documents_.Put(kMetadataUrl, absl::UnavailableError("down"));
  Start(Config());
  const Answer early = Ask(GoodToken());
  AwaitFetch();
  ASSERT_TRUE(early->has_value());
  EXPECT_THAT(**early, FailsWith(absl::StatusCode::kUnavailable, "keys_unavailable"));
  EXPECT_EQ(ReasonOf(GoodToken()), "keys_unavailable");
  documents_.Put(kMetadataUrl, Json{{"issuer", kIssuer}, {"jwks_uri", kKeysUrl}}.dump());
  clock_.Advance(IssuerKeys::kMinInterval);
  AwaitFetch();
  EXPECT_EQ(ReasonOf(GoodToken()), "OK");
}

TEST_F(ResourceServerTest, CredentialsAreRevokedWhenTheirKeyIsGone) {
  StartWithKeys();
  const std::string token = GoodToken();
  ASSERT_OK_AND_ASSIGN(const CredentialPtr of_ec, AskNow(token));
  ASSERT_OK_AND_ASSIGN(const CredentialPtr of_rsa,
                       AskNow(Token(Header("RS256", "rsa"), Claims(), RsaTestKey())));
  // Another key has its id now.
  PutKeys({RsaTestKey().Jwk("rsa"), TestKey::Ec().Jwk("ec")});
  clock_.Advance(IssuerKeys::kUsualAge - absl::Minutes(6));
  Poll();
  EXPECT_FALSE(of_ec->IsRevoked());
  // An unknown key makes the server fetch the keys again.
  const Answer of_unknown_key = Ask(Token(Header("EdDSA", "new"), Claims(), EdTestKey()));
  EXPECT_FALSE(of_unknown_key->has_value());
  AwaitFetch();
  ASSERT_TRUE(of_unknown_key->has_value());
  EXPECT_THAT(**of_unknown_key, FailsWith(absl::StatusCode::kUnauthenticated, "key_unknown"));
  EXPECT_TRUE(of_ec->IsRevoked());
  EXPECT_FALSE(of_rsa->IsRevoked());
  EXPECT_EQ(ReasonOf(token), "signature_wrong");
}

TEST_F(ResourceServerTest, MetadataNamesAuthorizationServer) {
  Start(Config());
  EXPECT_EQ(Json::parse(server_->Metadata()),
            (Json{{"resource", kResource},
                  {"authorization_servers", {kIssuer}},
                  {"scopes_supported",
                   {"callslip.client", "callslip.view", "callslip.admin", "callslip.work"}},
                  {"bearer_methods_supported", {"header"}}}));
  EXPECT_EQ(server_->challenge().resource_metadata,
            "https://gw.example/.well-known/oauth-protected-resource/mcp");
}

TEST_F(ResourceServerTest, DestructionEndsFetchAndDropsWaitingCallers) {
  documents_.Hold();
  Start(Config());
  const Answer waiting = Ask(GoodToken());
  documents_.AwaitHeld();
  server_ = nullptr;
  Poll();
  EXPECT_FALSE(waiting->has_value());
}

TEST(TokenCacheTest, ForgetsLeastRecentlyUsedToken) {
  TokenCache cache;
  ASSERT_OK_AND_ASSIGN(const PublicKey key, PublicKey::FromJwk(EdTestKey().Jwk("")));
  const auto add = [&](size_t i) {
    cache.Add(absl::StrCat(i), std::make_shared<Credential>(Principal{"a", Role::kClient}), key);
  };
  for (size_t i = 0; i < TokenCache::kMaxTokens; ++i) add(i);
  EXPECT_NE(cache.Find("0", absl::UnixEpoch()), nullptr);
  add(TokenCache::kMaxTokens);
  EXPECT_EQ(cache.size(), TokenCache::kMaxTokens);
  EXPECT_NE(cache.Find("0", absl::UnixEpoch()), nullptr);
  EXPECT_EQ(cache.Find("1", absl::UnixEpoch()), nullptr);
  EXPECT_NE(cache.Find("2", absl::UnixEpoch()), nullptr);
  add(2);
  EXPECT_EQ(cache.size(), TokenCache::kMaxTokens);
}

TEST(TokenCacheTest, EvictedCredentialIsRevokedWithItsKeyWhileCallHoldsIt) {
  TokenCache cache;
  ASSERT_OK_AND_ASSIGN(const PublicKey stays, PublicKey::FromJwk(EdTestKey().Jwk("stays")));
  ASSERT_OK_AND_ASSIGN(const PublicKey goes, PublicKey::FromJwk(EcTestKey().Jwk("goes")));
  ASSERT_OK_AND_ASSIGN(const KeySet later, KeySet::Parse(KeySetText({EdTestKey().Jwk("stays")})));
  const auto add = [&](const std::string& token, const PublicKey& key) {
    auto credential = std::make_shared<Credential>(Principal{"a", Role::kClient});
    cache.Add(token, credential, key);
    return CredentialPtr(credential);
  };
  const CredentialPtr held = add("held", goes);
  const CredentialPtr held_of_other_key = add("other", stays);
  // The token is presented again after its removal from the cache: it gets another credential.
  const CredentialPtr held_again = add("held", goes);
  for (size_t i = 0; i < 3 * TokenCache::kMaxTokens; ++i) (void)add(absl::StrCat(i), goes);
  ASSERT_EQ(cache.Find("held", absl::UnixEpoch()), nullptr);
  // A credential that no call holds is not remembered.
  EXPECT_EQ(cache.outlasting(), 3u);
  cache.KeepSignedBy(later);
  EXPECT_TRUE(held->IsRevoked());
  EXPECT_TRUE(held_again->IsRevoked());
  EXPECT_FALSE(held_of_other_key->IsRevoked());
  EXPECT_EQ(cache.outlasting(), 1u);
  cache.KeepSignedBy(KeySet());
  EXPECT_TRUE(held_of_other_key->IsRevoked());
}

TEST(TokenCacheTest, EvictedCredentialIsForgottenOnceItsCallHasEnded) {
  TokenCache cache;
  ASSERT_OK_AND_ASSIGN(const PublicKey key, PublicKey::FromJwk(EdTestKey().Jwk("")));
  std::vector<CredentialPtr> calls;
  for (size_t i = 0; i < 5 * TokenCache::kMaxTokens; ++i) {
    auto credential = std::make_shared<Credential>(Principal{"a", Role::kClient});
    cache.Add(absl::StrCat(i), credential, key);
    calls.push_back(std::move(credential));
    // A call ends long after the cache has removed its credential.
    if (calls.size() > 2 * TokenCache::kMaxTokens) calls.erase(calls.begin());
  }
  EXPECT_LE(cache.outlasting(), 2 * TokenCache::kMaxTokens);
}

}  // namespace
}  // namespace callslip::gateway
