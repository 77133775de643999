#include "gateway/config.h"

#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;

TEST(GatewayConfigTest, NonLocalBindNeedsTokensOrExplicitFlag) {
  GatewayConfig config;
  EXPECT_OK(config.Validate());
  for (const char* host : {"0.0.0.0", "::", "192.168.1.2", "::ffff:127.0.0.1"}) {
    config = {.listen = {{.host = "127.0.0.1"}, {.host = host, .port = 7890}}};
    EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("Set --token-file")) << host;
    config.token_file = "tokens";
    EXPECT_OK(config.Validate());
    config.token_file = "";
    config.allow_insecure_bind = true;
    EXPECT_OK(config.Validate());
    config = {.listen = {{.host = host, .port = 7890}},
              .tls = {.certificate = "c", .key = "k", .authorities = "a"}};
    EXPECT_OK(config.Validate());
  }
}

TEST(GatewayConfigTest, TlsFilesAreSetTogether) {
  const auto message = [](const TlsFiles& files) {
    return std::string(GatewayConfig{.tls = files}.Validate().message());
  };
  EXPECT_EQ(message({.certificate = "c", .key = "k"}), "");
  EXPECT_THAT(message({.certificate = "c"}), HasSubstr("set both or none"));
  EXPECT_THAT(message({.key = "k"}), HasSubstr("set both or none"));
  EXPECT_THAT(message({.authorities = "a"}), HasSubstr("needs --tls-cert and --tls-key"));
}

TEST(GatewayConfigTest, AuthorizationServerAllowsNonLocalBind) {
  GatewayConfig config{.listen = {{.host = "0.0.0.0", .port = 7890}}};
  config.oauth.issuer = "https://as.example";
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("--oauth-resource"));
  config.oauth.resource = "https://gw.example/mcp";
  EXPECT_OK(config.Validate());
}

TEST(GatewayConfigTest, OriginsMustHaveFormatThatBrowsersSend) {
  for (const char* origin : {"chrome-extension://abc", "https://callslip.example",
                             "http://127.0.0.1:8080", "http://[::1]:8080"}) {
    EXPECT_OK(GatewayConfig{.allowed_origins = {origin}}.Validate());
  }
  for (const char* origin :
       {"", "*", "null", "://", "chrome-extension://", "chrome-extension://*",
        "https://callslip.example/", "HTTPS://callslip.example", "abc", "https://a b"}) {
    EXPECT_THAT(std::string(GatewayConfig{.allowed_origins = {origin}}.Validate().message()),
                HasSubstr("--allowed-origins"))
        << origin;
  }
}

}  // namespace
}  // namespace callslip::gateway
