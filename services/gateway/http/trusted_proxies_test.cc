#include "gateway/http/trusted_proxies.h"

#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "gateway/http/address_quota.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;

std::string ClientOf(const std::vector<std::string>& proxies, const std::string& peer,
                     const std::string& forwarded_for) {
  auto trusted = TrustedProxies::Of(proxies);
  EXPECT_OK(trusted);
  const std::string key = peer.empty() ? "" : AddressKeyOfText(peer);
  return AddressText(trusted->ClientOf(key, forwarded_for));
}

TEST(TrustedProxiesTest, ClientIsPeerWithoutTrustedProxies) {
  EXPECT_EQ(ClientOf({}, "127.0.0.1", "10.9.9.9"), "127.0.0.1");
  EXPECT_EQ(ClientOf({}, "", "10.9.9.9"), "");
}

TEST(TrustedProxiesTest, TrustedProxyNamesItsClient) {
  const std::vector<std::string> proxies = {"127.0.0.1", "10.1.0.0/16", "2001:db8:1::/48"};
  struct Case {
    const char* peer;
    const char* told;
    const char* client;
  };
  const Case cases[] = {
      {"127.0.0.1", "192.0.2.7", "192.0.2.7"},
      {"127.0.0.1", "192.0.2.7:1234", "192.0.2.7"},
      {"127.0.0.1", " [2001:db8:7::1]:1234 ", "2001:db8:7::"},
      {"127.0.0.1", "[::ffff:192.0.2.7]:1234", "192.0.2.7"},
      {"10.1.200.3", "192.0.2.7", "192.0.2.7"},
      {"2001:db8:1:2::3", "192.0.2.7", "192.0.2.7"},
      // A proxy appends the address of its peer. The addresses before it come from that peer.
      {"127.0.0.1", "198.51.100.1, 192.0.2.7", "192.0.2.7"},
      {"127.0.0.1", "198.51.100.1, 192.0.2.7, 10.1.0.9", "192.0.2.7"},
      {"127.0.0.1", "10.1.0.8, 10.1.0.9", "10.1.0.8"},
      // Only an address can be a client.
      {"127.0.0.1", "", "127.0.0.1"},
      {"127.0.0.1", "unknown", "127.0.0.1"},
      {"127.0.0.1", "192.0.2.7, made-up-1", "127.0.0.1"},
      {"127.0.0.1", "192.0.2.7, made-up-1, 10.1.0.9", "10.1.0.9"},
      {"127.0.0.1", "192.0.2.7,", "127.0.0.1"},
      // The header of a peer that is not trusted is ignored.
      {"10.2.0.1", "192.0.2.7", "10.2.0.1"},
      {"2001:db8:2::1", "192.0.2.7", "2001:db8:2::"},
      {"127.0.0.2", "192.0.2.7", "127.0.0.2"},
      {"", "192.0.2.7", ""},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(ClientOf(proxies, each.peer, each.told), each.client)
        << each.peer << " tells " << each.told;
  }
  EXPECT_EQ(ClientOf({"unix"}, "", "192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(ClientOf({"0.0.0.0/0"}, "10.2.0.1", "192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(ClientOf({"0.0.0.0/0"}, "", "192.0.2.7"), "");
}

TEST(TrustedProxiesTest, ErrorNamesInvalidNetwork) {
  for (const char* wrong :
       {"", "proxy", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "2001:db8::/65",
        "2001:db8::/129", "::ffff:10.0.0.0/104", "[::1]", "10.0.0.1:80", "10.0.0.0/8/8"}) {
    const auto trusted = TrustedProxies::Of({"127.0.0.1", wrong});
    ASSERT_FALSE(trusted.ok()) << wrong;
    EXPECT_THAT(std::string(trusted.status().message()), HasSubstr(std::string("\"") + wrong));
  }
}

}  // namespace
}  // namespace callslip::gateway
