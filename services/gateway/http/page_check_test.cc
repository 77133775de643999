#include "gateway/http/page_check.h"

#include <string>

#include "gateway/json/parse.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

HttpRequest PollAt(const std::string& host, const HttpHeaders& headers = {},
                   Role role = Role::kLocal) {
  HttpRequest request;
  request.method = "GET";
  request.headers = headers;
  request.headers["host"] = host;
  request.principal = {"somebody", role, {}};
  return request;
}

TEST(PageCheckTest, RequestToOtherHostMustShowThatItIsNotFromPage) {
  for (const char* host : {"gateway.lan:7890", "192.168.1.7:7890", "[fd00::1]:7890", "gateway"}) {
    const auto refusal = ExcludePages(PollAt(host));
    ASSERT_TRUE(refusal.has_value()) << host;
    EXPECT_EQ(refusal->status, 403);
    EXPECT_EQ(Json::parse(refusal->body)["error"], "page_not_excluded");
    // Forms and no-cors requests may have these types.
    EXPECT_TRUE(ExcludePages(PollAt(host, {{"content-type", "text/plain"}})).has_value());
    EXPECT_FALSE(ExcludePages(PollAt(host, {{"content-type", "application/json"}})).has_value());
    // The request filter has already checked the origin of such a request.
    EXPECT_FALSE(ExcludePages(PollAt(host, {{"origin", "http://" + std::string(host)}})));
    EXPECT_FALSE(ExcludePages(PollAt(host, {{"sec-fetch-site", "none"}})));
    // A caller with a token is not a page.
    EXPECT_FALSE(ExcludePages(PollAt(host, {}, Role::kWorker)).has_value());
  }
}

TEST(PageCheckTest, RequestToLoopbackHostPasses) {
  for (const char* host : {"127.0.0.1:7890", "localhost:7890", "[::1]:7890", "localhost"}) {
    EXPECT_FALSE(ExcludePages(PollAt(host)).has_value()) << host;
  }
}

}  // namespace
}  // namespace callslip::gateway
