#include "gateway/http/request_filter.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kExtension[] = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";

class RequestFilterTest : public testing::Test {
 protected:
  // The refusal's status, or 0 where the request may pass.
  int Check(const std::string& method, HttpHeaders headers) {
    const auto refusal =
        filter_.Check({.method = method, .path = "/mcp", .headers = std::move(headers)});
    return refusal.has_value() ? refusal->status : 0;
  }

  RequestFilter filter_{{{.host = "127.0.0.1", .port = 7890}}, {"gateway:7890"}, {kExtension}};
};

TEST_F(RequestFilterTest, OwnHostsPass) {
  for (const char* host : {"127.0.0.1:7890", "localhost:7890", "LocalHost:7890", "gateway:7890"}) {
    EXPECT_EQ(Check("GET", {{"host", host}}), 0) << host;
  }
}

TEST_F(RequestFilterTest, OtherHostsAreRefused) {
  for (const char* host : {"", "localhost", "localhost:80", "evil.example:7890", "[::1]:7890",
                           "127.0.0.1:7891", "127.0.0.1:7890.evil.example"}) {
    EXPECT_EQ(Check("GET", {{"host", host}}), 403) << host;
  }
  EXPECT_EQ(Check("GET", {}), 403);
}

TEST_F(RequestFilterTest, Ipv6HostOfListenerPassesInAnyCase) {
  const RequestFilter ipv6({{.host = "FD00::1", .port = 7890}}, {}, {});
  for (const char* host : {"[fd00::1]:7890", "[FD00::1]:7890"}) {
    EXPECT_FALSE(ipv6.Check({.method = "GET", .headers = {{"host", host}}}).has_value()) << host;
  }
  for (const char* host : {"[::1]:7890", "::1:7890", "fd00::1:7890", "[fd00::2]:7890"}) {
    EXPECT_TRUE(ipv6.Check({.method = "GET", .headers = {{"host", host}}}).has_value()) << host;
  }
}

TEST_F(RequestFilterTest, EachListenerAcceptsOnlyItsOwnHostsAndPages) {
  const RequestFilter filter(
      {{.host = "10.0.0.1", .port = 443}, {.host = "10.0.0.2", .port = 7890}, {.unix_path = "/s"}},
      {"gateway.test"}, {kExtension}, /*is_tls=*/true);
  const auto passes = [&](size_t listener, const std::string& host, const std::string& origin) {
    HttpHeaders headers = {{"host", host}};
    if (!origin.empty()) headers.emplace("origin", origin);
    const auto refusal =
        filter.Check({.method = "GET", .headers = std::move(headers), .listener = listener});
    return !refusal.has_value();
  };
  const std::vector<std::vector<std::string>> hosts = {
      {"10.0.0.1:443", "10.0.0.1"}, {"10.0.0.2:7890"}, {}};
  for (size_t listener = 0; listener < hosts.size(); ++listener) {
    for (size_t other = 0; other < hosts.size(); ++other) {
      for (const std::string& host : hosts[other]) {
        EXPECT_EQ(passes(listener, host, ""), listener == other) << listener << host;
        EXPECT_EQ(passes(listener, host, "https://" + host), listener == other) << host;
        EXPECT_EQ(passes(listener, "gateway.test", "https://" + host), listener == other) << host;
        EXPECT_FALSE(passes(listener, host, "http://" + host)) << host;
      }
    }
    for (const char* host : {"10.0.0.1:80", "127.0.0.1", "localhost:443", "localhost:7890", ""}) {
      EXPECT_FALSE(passes(listener, host, "")) << host;
    }
    EXPECT_TRUE(passes(listener, "gateway.test", "https://gateway.test"));
    EXPECT_TRUE(passes(listener, "gateway.test", kExtension));
  }
}

// At other addresses of this machine, the same port may belong to another program.
TEST_F(RequestFilterTest, OnlyLoopbackNamesThatReachListenerPass) {
  const std::vector<std::string> names = {"127.0.0.1", "localhost", "[::1]"};
  const auto own = [&](const std::string& listen) {
    const RequestFilter filter({{.host = listen, .port = 7890}}, {}, {});
    std::vector<std::string> passed;
    for (const std::string& name : names) {
      const std::string host = name + ":7890";
      const bool is_host =
          !filter.Check({.method = "GET", .headers = {{"host", host}}}).has_value();
      const auto refusal =
          filter.Check({.method = "GET",
                        .headers = {{"host", Address{.host = listen, .port = 7890}.ToString()},
                                    {"origin", "http://" + host}}});
      EXPECT_EQ(is_host, !refusal.has_value()) << listen << host;
      if (is_host) passed.push_back(name);
    }
    return passed;
  };
  EXPECT_THAT(own("127.0.0.1"), ElementsAre("127.0.0.1", "localhost"));
  EXPECT_THAT(own("localhost"), ElementsAre("127.0.0.1", "localhost"));
  EXPECT_THAT(own("::1"), ElementsAre("localhost", "[::1]"));
  EXPECT_THAT(own("0:0:0:0:0:0:0:1"), ElementsAre("localhost", "[::1]"));
  for (const char* all : {"0.0.0.0", "::"}) EXPECT_EQ(own(all), names) << all;
  for (const char* other : {"127.0.0.2", "192.168.1.5", "fd00::1"}) {
    EXPECT_THAT(own(other), IsEmpty()) << other;
  }
}

// Pages from port 80 of this machine belong to another program.
TEST_F(RequestFilterTest, PagesAreRefusedOverUnixSocket) {
  const RequestFilter filter({{.host = "127.0.0.1", .port = 7890}, {.unix_path = "/s"}}, {}, {});
  const auto passes = [&](size_t listener, HttpHeaders headers) {
    return !filter.Check({.method = "GET", .headers = std::move(headers), .listener = listener})
                .has_value();
  };
  EXPECT_TRUE(passes(1, {{"host", "localhost"}}));
  EXPECT_FALSE(passes(0, {{"host", "localhost"}}));
  for (const char* origin : {"http://localhost", "https://localhost", "http://localhost:80",
                             "http://127.0.0.1", "http://localhost:7890"}) {
    EXPECT_FALSE(passes(1, {{"host", "localhost"}, {"origin", origin}})) << origin;
  }
  EXPECT_FALSE(passes(0, {{"host", "127.0.0.1:7890"}, {"origin", "http://localhost"}}));
}

TEST_F(RequestFilterTest, OnlyAllowedExtensionsAndOwnPagesAreAcceptedAsOrigin) {
  const auto with_origin = [&](const std::string& origin) {
    return Check("GET", {{"host", "127.0.0.1:7890"}, {"origin", origin}});
  };
  EXPECT_EQ(with_origin(kExtension), 0);
  EXPECT_EQ(with_origin("http://127.0.0.1:7890"), 0);
  EXPECT_EQ(with_origin("http://localhost:7890"), 0);
  for (const std::string& origin :
       {std::string(), std::string("http://[::1]:7890"), std::string("null"),
        std::string("https://evil.example"), std::string("http://127.0.0.1:8000"),
        std::string("https://127.0.0.1:7890"), std::string("http://evil.example:7890"),
        std::string("chrome-extension://other"), std::string("moz-extension://other"),
        kExtension + std::string("/"), kExtension + std::string(" null")}) {
    EXPECT_EQ(with_origin(origin), 403) << origin;
  }
}

TEST_F(RequestFilterTest, RefusalNamesFlagThatAllowsExtension) {
  const auto refusal =
      filter_.Check({.method = "GET",
                     .headers = {{"host", "127.0.0.1:7890"}, {"origin", "moz-extension://mine"}}});
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(refusal->body, testing::HasSubstr("--allowed-origins=moz-extension://mine"));
}

TEST_F(RequestFilterTest, RequestsOfOtherSitesAreRefused) {
  const auto with_site = [&](const char* site) {
    return Check("GET", {{"host", "127.0.0.1:7890"}, {"sec-fetch-site", site}});
  };
  EXPECT_EQ(with_site("none"), 0);
  EXPECT_EQ(with_site("same-origin"), 0);
  EXPECT_EQ(with_site("cross-site"), 403);
  EXPECT_EQ(with_site("same-site"), 403);
  // The Origin header is more exact: the requests of an extension are cross-site too.
  EXPECT_EQ(
      Check("GET",
            {{"host", "127.0.0.1:7890"}, {"sec-fetch-site", "cross-site"}, {"origin", kExtension}}),
      0);
}

TEST_F(RequestFilterTest, PostsMustBeJson) {
  const auto with_type = [&](const char* type) {
    return Check("POST", {{"host", "127.0.0.1:7890"}, {"content-type", type}});
  };
  EXPECT_EQ(with_type("application/json"), 0);
  EXPECT_EQ(with_type("Application/JSON ; charset=utf-8"), 0);
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "application/jsonp", "text/plain; application/json"}) {
    EXPECT_EQ(with_type(type), 415) << type;
  }
  EXPECT_EQ(Check("POST", {{"host", "127.0.0.1:7890"}}), 415);
}

TEST_F(RequestFilterTest, LinksToPagePassFromAnySite) {
  const auto follow = [this](const std::string& method, const std::string& path,
                             const std::string& mode, const std::string& destination) {
    const auto refusal = filter_.Check({.method = method,
                                        .path = path,
                                        .headers = {{"host", "127.0.0.1:7890"},
                                                    {"sec-fetch-site", "cross-site"},
                                                    {"sec-fetch-mode", mode},
                                                    {"sec-fetch-dest", destination}}});
    return !refusal.has_value();
  };
  for (const char* path : {"/", "/ui", "/ui/", "/ui/sessions/1"}) {
    EXPECT_TRUE(follow("GET", path, "navigate", "document")) << path;
    EXPECT_FALSE(follow("POST", path, "navigate", "document")) << path;
    EXPECT_FALSE(follow("GET", path, "navigate", "iframe")) << path;
    EXPECT_FALSE(follow("GET", path, "no-cors", "script")) << path;
  }
  for (const char* path : {"/api/sessions", "/mcp", "/uix", "/metrics"}) {
    EXPECT_FALSE(follow("GET", path, "navigate", "document")) << path;
  }
}

}  // namespace
}  // namespace callslip::gateway
