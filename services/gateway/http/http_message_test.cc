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

TEST(ParseTargetTest, RefusesBrokenTargets) {
  for (const char* target : {"", "a", "*", "http://x/", "/%", "/%2", "/%zz", "/?a=%f", "/?a=%ff",
                             "/%c0%af", "/%ed%a0%80", "/%f5%80%80%80", "/?%e2%82"}) {
    HttpRequest request;
    EXPECT_FALSE(ParseTarget(target, request)) << target;
  }
}

}  // namespace
}  // namespace callslip::gateway
