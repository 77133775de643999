#include "gateway/oauth/oauth_config.h"

#include <string>
#include <vector>

#include "auth/principal.h"
#include "common/status_matchers.h"
#include "common/url.h"
#include "gateway/oauth/jwt.h"
#include "gateway/oauth/scope_roles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

OAuthConfig ConfigOf(const char* issuer, const char* resource) {
  OAuthConfig config;
  config.issuer = issuer;
  config.resource = resource;
  return config;
}

TEST(OAuthConfigTest, AcceptsHttpsAndLoopbackUrls) {
  EXPECT_OK(OAuthConfig().Validate());
  EXPECT_OK(ConfigOf("https://as.example/tenant", "https://gw.example/mcp").Validate());
  EXPECT_OK(ConfigOf("http://127.0.0.1:9000", "http://localhost:7890/mcp").Validate());
  EXPECT_OK(ConfigOf("http://[::1]:9000", "http://[::1]:7890/mcp").Validate());
}

TEST(OAuthConfigTest, ErrorNamesInvalidSetting) {
  const auto error = [](const char* issuer, const char* resource) {
    return std::string(ConfigOf(issuer, resource).Validate().message());
  };
  EXPECT_THAT(error("https://as.example", ""), HasSubstr("set both, or neither"));
  EXPECT_THAT(error("", "https://gw.example/mcp"), HasSubstr("set both, or neither"));
  EXPECT_THAT(error("http://as.example", "https://gw.example"), HasSubstr("begin with https://"));
  EXPECT_THAT(error("https://as.example", "http://gw.example"), HasSubstr("--oauth-resource"));
  EXPECT_THAT(error("https://as.example?a=1", "https://gw.example"), HasSubstr("query"));
  EXPECT_THAT(error("https://as.example", "https://gw.example/a%20b"), HasSubstr("%"));
  OAuthConfig config = ConfigOf("https://as.example", "https://gw.example/mcp");
  config.principal_claim = "";
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("--oauth-principal-claim"));
  config.principal_claim = "sub";
  config.scopes = {"a=root"};
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("--oauth-scopes"));
}

TEST(UrlTest, UrlIsSplitIntoParts) {
  ASSERT_OK_AND_ASSIGN(const Url url, ParseUrl("https://as.example/a/b?c=d"));
  EXPECT_TRUE(url.is_https);
  EXPECT_EQ(url.authority, "as.example");
  EXPECT_EQ(url.address.host, "as.example");
  EXPECT_EQ(url.address.port, 443);
  EXPECT_EQ(url.path, "/a/b?c=d");
  EXPECT_EQ(url.Origin(), "https://as.example");
  ASSERT_OK_AND_ASSIGN(const Url local, ParseUrl("http://[::1]:8080"));
  EXPECT_EQ(local.address.host, "::1");
  EXPECT_EQ(local.address.port, 8080);
  EXPECT_EQ(local.path, "");
  EXPECT_TRUE(local.IsTrustworthy());
}

TEST(UrlTest, InvalidUrlsAreRefused) {
  for (const char* text :
       {"", "https://", "https:///path", "as.example", "ftp://as.example", "HTTPS://as.example",
        "https://user@as.example", "https://as.example#x", "https://as.example/ x",
        "https://as.example:0", "https://as.example:66000", "https://as.example:", "https://a:b:1",
        "https://[::1", "https://unix:1", "https://as.example/\x01", "https://as.example/{x}",
        "https://as.example\\@evil.example"}) {
    EXPECT_FALSE(ParseUrl(text).ok()) << text;
  }
}

TEST(ScopeRolesTest, RolesAreParsedFromEntries) {
  ASSERT_OK_AND_ASSIGN(const ScopeRoles roles,
                       ScopeRoles::Parse({"https://x.example/a=b=client", "y=worker"}));
  EXPECT_EQ(roles.RoleOf({"https://x.example/a=b"}), Role::kClient);
  EXPECT_EQ(roles.RoleOf({"y", "z"}), Role::kWorker);
  EXPECT_EQ(roles.RoleOf({}), std::nullopt);
  const std::vector<std::vector<std::string>> bad = {
      {},           {"a"},        {"=client"},    {"a=gateway"},           {"a=runner"},
      {"a=local"},  {"a=Client"}, {"a b=client"}, {"a=client", "a=admin"}, {"a\"=client"},
      {"a=client "}};
  for (const auto& entries : bad) EXPECT_FALSE(ScopeRoles::Parse(entries).ok());
}

TEST(ProviderPrincipalNameTest, ValidNamesAreKeptAndOthersAreHashed) {
  EXPECT_EQ(ProviderPrincipalName("https://as.example", "alice.b-2_c"), "oauth-alice.b-2_c");
  EXPECT_EQ(ProviderPrincipalName("https://as.example", std::string(58, 'a')),
            "oauth-" + std::string(58, 'a'));
  const std::vector<std::string> others = {
      "Alice", "alice@as.example", std::string(59, 'a'), "auth0|5f0c", "\n", "agent "};
  for (const std::string& caller : others) {
    const std::string name = ProviderPrincipalName("https://as.example", caller);
    EXPECT_THAT(name, MatchesRegex("oauth_[0-9a-f]+")) << caller;
    EXPECT_EQ(name.size(), 38u);
    EXPECT_TRUE(IsPrincipalName(name));
    EXPECT_EQ(name, ProviderPrincipalName("https://as.example", caller));
    EXPECT_NE(name, ProviderPrincipalName("https://other.example", caller));
    // Another caller cannot get this name by choosing it.
    EXPECT_NE(name, ProviderPrincipalName("https://as.example", name));
    EXPECT_NE(name, ProviderPrincipalName("https://as.example", name.substr(6)));
  }
}

TEST(DecodeBase64UrlTest, AcceptsOnlyCanonicalText) {
  EXPECT_EQ(DecodeBase64Url(""), "");
  EXPECT_EQ(DecodeBase64Url("AQ"), "\x01");
  EXPECT_EQ(DecodeBase64Url("-_8"), "\xfb\xff");
  for (const char* text : {"A", "AQ==", "AR", "+/8", "A Q", "AQ\n", "AQA=", "AQAAA"}) {
    EXPECT_EQ(DecodeBase64Url(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace callslip::gateway
