#include "gateway/http/path_pattern.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;

const PathPattern& Message() {
  static const PathPattern pattern("/api/sessions/{id}/queue/{msg_id}");
  return pattern;
}

TEST(PathPatternTest, ParametersAreNamed) {
  EXPECT_THAT(Message().Match("/api/sessions/s-1/queue/m-2"),
              Optional(ElementsAre(Pair("id", "s-1"), Pair("msg_id", "m-2"))));
}

TEST(PathPatternTest, SegmentsMatchExactly) {
  for (const char* path :
       {"/api/sessions/s-1/queue", "/api/sessions/s-1/queue/", "/api/sessions/s-1/queue/m-2/",
        "/api/sessions/s-1/queue/m-2/x", "/api/sessions//queue/m-2", "/api/sessions/s-1/Queue/m-2",
        "//api/sessions/s-1/queue/m-2", "api/sessions/s-1/queue/m-2", "/", ""}) {
    EXPECT_EQ(Message().Match(path), std::nullopt) << path;
  }
}

TEST(PathPatternTest, SegmentsAreDecodedOneByOne) {
  EXPECT_THAT(Message().Match("/%61pi/sessions/a%2Fb/queue/%C3%A4+%20"),
              Optional(ElementsAre(Pair("id", "a/b"), Pair("msg_id", "\xC3\xA4+ "))));
  EXPECT_EQ(Message().Match("/api/sessions/s-1%2Fqueue/m-2"), std::nullopt);
  EXPECT_EQ(Message().Match("/api/sessions/%FF/queue/m-2"), std::nullopt);
  EXPECT_EQ(Message().Match("/api/sessions/%4/queue/m-2"), std::nullopt);
}

TEST(PathPatternTest, RestParameterMatchesRemainingPath) {
  const PathPattern pattern("/ui/{path...}");
  EXPECT_THAT(pattern.Match("/ui/a"), Optional(ElementsAre(Pair("path", "a"))));
  EXPECT_THAT(pattern.Match("/ui/a/b%20c/"), Optional(ElementsAre(Pair("path", "a/b c/"))));
  for (const std::string& path :
       {std::string("/ui"), std::string("/ui/"), std::string("/ui//a"), std::string("/other/a"),
        "/ui/" + std::string(PathPattern::kMaxParameterBytes, 'x') + "/y"}) {
    EXPECT_EQ(pattern.Match(path), std::nullopt) << path;
  }
}

TEST(PathPatternTest, ParameterLengthIsLimited) {
  const PathPattern pattern("/{id}");
  EXPECT_NE(pattern.Match("/" + std::string(PathPattern::kMaxParameterBytes, 'x')), std::nullopt);
  EXPECT_EQ(pattern.Match("/" + std::string(PathPattern::kMaxParameterBytes + 1, 'x')),
            std::nullopt);
}

}  // namespace
}  // namespace callslip::gateway
