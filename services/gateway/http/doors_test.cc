#include "gateway/http/doors.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

class DoorsTest : public testing::Test {
 protected:
  // The refusal's status, or 0 where the request may pass.
  int Check(const std::string& method, std::map<std::string, std::string> headers) {
    const auto refusal =
        doors_.Check({.method = method, .path = "/mcp", .headers = std::move(headers)});
    return refusal.has_value() ? refusal->status : 0;
  }

  Doors doors_{{.host = "127.0.0.1", .port = 7890}, {"gateway:7890"}};
};

TEST_F(DoorsTest, OwnHostsPass) {
  for (const char* host :
       {"127.0.0.1:7890", "localhost:7890", "LocalHost:7890", "[::1]:7890", "gateway:7890"}) {
    EXPECT_EQ(Check("GET", {{"host", host}}), 0) << host;
  }
}

TEST_F(DoorsTest, OtherHostsAreRefused) {
  for (const char* host : {"", "localhost", "localhost:80", "evil.example:7890", "127.0.0.1:7891",
                           "127.0.0.1:7890.evil.example"}) {
    EXPECT_EQ(Check("GET", {{"host", host}}), 403) << host;
  }
  EXPECT_EQ(Check("GET", {}), 403);
}

TEST_F(DoorsTest, OnlyExtensionsAndOwnPagesMayBeTheOrigin) {
  const auto with_origin = [&](const char* origin) {
    return Check("GET", {{"host", "127.0.0.1:7890"}, {"origin", origin}});
  };
  EXPECT_EQ(with_origin("chrome-extension://abcdefghijklmnop"), 0);
  EXPECT_EQ(with_origin("http://127.0.0.1:7890"), 0);
  EXPECT_EQ(with_origin("http://localhost:7890"), 0);
  for (const char* origin : {"", "null", "https://evil.example", "http://127.0.0.1:8000",
                             "https://127.0.0.1:7890", "http://evil.example:7890"}) {
    EXPECT_EQ(with_origin(origin), 403) << origin;
  }
}

TEST_F(DoorsTest, RequestsThatAPageOfAnotherSiteMakesAreRefused) {
  const auto with_site = [&](const char* site) {
    return Check("GET", {{"host", "127.0.0.1:7890"}, {"sec-fetch-site", site}});
  };
  EXPECT_EQ(with_site("none"), 0);
  EXPECT_EQ(with_site("same-origin"), 0);
  EXPECT_EQ(with_site("cross-site"), 403);
  EXPECT_EQ(with_site("same-site"), 403);
}

TEST_F(DoorsTest, PostsMustBeJson) {
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

}  // namespace
}  // namespace callslip::gateway
