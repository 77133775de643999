#include "gateway/http/http_message.h"

#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

TEST(ParseTargetTest, SplitsPathAndQuery) {
  HttpRequest request;
  ASSERT_TRUE(ParseTarget("/a%20b?wait=5&t=x%26y+z&wait=6&empty&=", request));
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.Query("wait"), "5");
  EXPECT_EQ(request.Query("t"), "x&y z");
  EXPECT_EQ(request.Query("empty"), "");
  EXPECT_EQ(request.Query("absent"), "");
  ASSERT_TRUE(ParseTarget("/%e2%82%ac%f0%9f%98%80", request));
}

TEST(ParseTargetTest, HostOfAbsoluteTargetReplacesHostHeader) {
  struct Case {
    const char* target;
    const char* host;
    const char* rest;
  };
  for (const Case& each : {Case{"http://x/", "x", "/"}, Case{"HTTP://x:1", "x:1", "/"},
                           Case{"https://[::1]:7890/a%20b?c=d", "[::1]:7890", "/a%20b?c=d"},
                           Case{"http://x?a=/b", "x", "/?a=/b"}}) {
    HttpRequest request;
    request.headers["host"] = "other";
    ASSERT_TRUE(ParseTarget(each.target, request)) << each.target;
    EXPECT_EQ(request.Header("host"), each.host);
    EXPECT_EQ(request.target, each.rest);
  }
}

TEST(ParseTargetTest, RefusesBrokenTargets) {
  for (const char* target : {"", "a", "*", "http:///", "http://", "ftp://x/", "http://user@x/",
                             "http://x#/", "x:1", "http://x/%zz", "/%", "/%2", "/%zz", "/?a=%f",
                             "/?a=%ff", "/%c0%af", "/%ed%a0%80", "/%f5%80%80%80", "/?%e2%82"}) {
    HttpRequest request;
    EXPECT_FALSE(ParseTarget(target, request)) << target;
  }
}

}  // namespace
}  // namespace callslip::gateway
