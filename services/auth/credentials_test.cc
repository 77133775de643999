#include "auth/credentials.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

using ::testing::Optional;

const std::string kAgentToken(32, 'a');
const std::string kBrowserToken(32, 'b');

TEST(CredentialsTest, MapTokensToPrincipals) {
  const Credentials credentials(
      {{{"agent", Role::kClient}, kAgentToken}, {{"browser", Role::kWorker}, kBrowserToken}});
  ASSERT_NE(credentials.FindToken(kAgentToken), nullptr);
  EXPECT_EQ(credentials.FindToken(kAgentToken)->principal(), (Principal{"agent", Role::kClient}));
  EXPECT_EQ(credentials.FindToken(kBrowserToken)->principal(),
            (Principal{"browser", Role::kWorker}));
}

TEST(CredentialsTest, KnowNoOtherTokens) {
  const Credentials credentials({{{"agent", Role::kClient}, kAgentToken}});
  for (const std::string& token : {std::string(), std::string("a"), std::string(31, 'a'),
                                   std::string(33, 'a'), std::string(32, 'A'), kBrowserToken}) {
    EXPECT_EQ(credentials.FindToken(token), nullptr) << token;
  }
}

TEST(CredentialsTest, FindTokenByFingerprint) {
  Credentials credentials({{{"agent", Role::kClient}, kAgentToken}});
  const auto found = credentials.FindFingerprint(TokenFingerprint(kAgentToken));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->text, kAgentToken);
  EXPECT_EQ(found->credential, credentials.FindToken(kAgentToken));
  for (const std::string& other : {TokenFingerprint(kBrowserToken), kAgentToken, std::string()}) {
    EXPECT_FALSE(credentials.FindFingerprint(other).has_value()) << other;
  }
  credentials.Replace({{{"browser", Role::kWorker}, kBrowserToken}});
  EXPECT_FALSE(credentials.FindFingerprint(TokenFingerprint(kAgentToken)).has_value());
  EXPECT_TRUE(credentials.FindFingerprint(TokenFingerprint(kBrowserToken)).has_value());
}

TEST(CredentialsTest, FindCertificatesByNameAndNotByToken) {
  const Credentials credentials(
      {{.principal = {"gateway", Role::kGateway}, .certificate = "gateway.example"},
       {{"agent", Role::kClient}, kAgentToken}});
  ASSERT_NE(credentials.FindCertificate("gateway.example"), nullptr);
  EXPECT_EQ(credentials.FindCertificate("gateway.example")->principal().role, Role::kGateway);
  EXPECT_EQ(credentials.FindCertificate("example"), nullptr);
  EXPECT_EQ(credentials.FindToken("gateway.example"), nullptr);
  EXPECT_EQ(credentials.FindToken("cert:gateway.example"), nullptr);
  EXPECT_EQ(credentials.FindToken(""), nullptr);
}

TEST(CredentialTest, IsOverOnceItIsRevokedOrExpired) {
  Credential credential({"agent", Role::kClient}, absl::FromUnixSeconds(100));
  EXPECT_FALSE(credential.IsOver(absl::FromUnixSeconds(99)));
  EXPECT_TRUE(credential.IsOver(absl::FromUnixSeconds(100)));
  credential.Revoke();
  EXPECT_TRUE(credential.IsOver(absl::FromUnixSeconds(99)));
}

TEST(BearerTokenOfTest, ReadsBearerHeader) {
  EXPECT_THAT(BearerTokenOf("Bearer secret"), Optional(absl::string_view("secret")));
  EXPECT_THAT(BearerTokenOf("bearer  secret "), Optional(absl::string_view("secret")));
  for (const char* header : {"", "Bearer", "Bearer ", "Basic secret", "secret", "Bearersecret"}) {
    EXPECT_FALSE(BearerTokenOf(header).has_value()) << header;
  }
}

TEST(RoleTest, RolesHaveNames) {
  for (const Role role : kTokenRoles) EXPECT_THAT(ParseRole(RoleName(role)), Optional(role));
  for (const char* name : {"root", "", "local", "unknown"}) {
    EXPECT_FALSE(ParseRole(name).has_value()) << name;
  }
}

TEST(RoleTest, RolesDecideWhoCanSubmitAndSeeAllClients) {
  for (const Role role : kTokenRoles) {
    EXPECT_EQ(MaySubmit(role), role == Role::kClient || role == Role::kAdmin) << RoleName(role);
    EXPECT_EQ(SeesAllClients(role), role == Role::kViewer || role == Role::kAdmin)
        << RoleName(role);
  }
}

}  // namespace
}  // namespace callslip
