#include "bridge/config.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<BridgeConfig> Parse(const std::vector<std::string>& arguments) {
  BridgeOptions options;
  OptionSet set("callslip-bridge", "Tests options");
  AddBridgeOptions(set, options);
  const auto parsed = set.Parse(arguments, [](const char*) -> const char* { return nullptr; });
  if (!parsed.ok()) return parsed.status();
  return CheckBridgeOptions(options);
}

TEST(BridgeConfigTest, StartCommandHasAbsolutePaths) {
  BridgeOptions options;
  EXPECT_EQ(StartCommand("/b", options),
            (std::vector<std::string>{"/b", "--gateway", "http://127.0.0.1:7890"}));
  const std::string here = std::filesystem::current_path().string();
  options.gateway = "unix:run/socket";
  options.token_file = "tokens";
  options.tls.authorities = "/etc/ca.pem";
  options.autostart = true;
  EXPECT_EQ(StartCommand("/b", options),
            (std::vector<std::string>{"/b", "--gateway", absl::StrCat("unix:", here, "/run/socket"),
                                      "--token-file", here + "/tokens", "--tls-ca", "/etc/ca.pem",
                                      "--autostart"}));
}

TEST(BridgeConfigTest, DefaultsMatchDesign) {
  ASSERT_OK_AND_ASSIGN(const BridgeConfig config, Parse({}));
  EXPECT_EQ(config.gateway.ToString(), "http://127.0.0.1:7890/mcp");
  EXPECT_EQ(config.times.fast.timeout, absl::Seconds(10));
  EXPECT_EQ(config.times.slow.timeout, absl::Seconds(35));
  EXPECT_EQ(config.times.blocking.timeout, absl::Seconds(65));
}

TEST(BridgeConfigTest, RefusesTimeoutsThatDoNotNest) {
  EXPECT_THAT(std::string(Parse({"--timeout-blocking", "50s"}).status().message()),
              HasSubstr("--server-wait-blocking"));
  EXPECT_THAT(std::string(Parse({"--timeout-fast", "40s"}).status().message()),
              HasSubstr("must nest"));
  EXPECT_OK(Parse({"--server-wait-blocking", "40s", "--timeout-blocking", "50s"}));
}

TEST(BridgeConfigTest, AutostartAcceptsOnlyLocalHttpUrls) {
  for (const char* url : {"http://10.0.0.1:7890", "https://127.0.0.1:7890", "http://127.0.0.1",
                          "http://127.0.0.1:7890/other"}) {
    EXPECT_THAT(std::string(Parse({"--autostart", "--gateway", url}).status().message()),
                HasSubstr("http://127.0.0.1:PORT"))
        << url;
  }
}

TEST(BridgeConfigTest, AutostartRefusesTooLongSocketPath) {
  const char* const before = std::getenv("XDG_RUNTIME_DIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_RUNTIME_DIR", ("/" + std::string(100, 'x')).c_str(), /*overwrite=*/1);
  EXPECT_THAT(
      std::string(Parse({"--autostart", "--gateway", "http://127.0.0.1:7890"}).status().message()),
      HasSubstr("too long"));
  kept.empty() ? unsetenv("XDG_RUNTIME_DIR") : setenv("XDG_RUNTIME_DIR", kept.c_str(), 1);
}

TEST(BridgeConfigTest, MissingTokenFileIsRefusedWithoutAutostart) {
  EXPECT_FALSE(Parse({"--token-file", "/nonexistent/tokens"}).ok());
}

TEST(GatewayUrlTest, MissingPathIsAdded) {
  for (const char* text : {"http://h:1", "http://h:1/", "http://h:1/mcp"}) {
    ASSERT_OK_AND_ASSIGN(const GatewayUrl url, ParseGatewayUrl(text));
    EXPECT_EQ(url.origin, "http://h:1");
    EXPECT_EQ(url.path, "/mcp");
  }
  EXPECT_EQ(ParseGatewayUrl("https://h/a/mcp")->ToString(), "https://h/a/mcp");
  EXPECT_EQ(ParseGatewayUrl("unix:/run/s")->path, "/mcp");
  EXPECT_EQ(ParseGatewayUrl("unix:/run/s")->ToString(), "unix:/run/s");
}

TEST(GatewayUrlTest, RefusesInvalidUrls) {
  for (const char* text :
       {"", "127.0.0.1:7890", "unix:", "ftp://h", "http://", "http:///mcp", "http://a b"}) {
    EXPECT_FALSE(ParseGatewayUrl(text).ok()) << text;
  }
}

}  // namespace
}  // namespace callslip::bridge
