#include "gateway/json/parse.h"

#include <string>

#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

TEST(ParseJsonTest, TakesEveryKindOfValue) {
  for (const char* text : {"null", "true", "-1", "18446744073709551615", "1.5", "\"x\"", "[]", "{}",
                           R"({"a":[1,{"b":null}],"c":{"d":[[]]}})"}) {
    const auto parsed = ParseJson(text);
    ASSERT_OK(parsed) << text;
    EXPECT_EQ(Dump(*parsed), text);
  }
}

TEST(ParseJsonTest, RefusesWhatIsNoJson) {
  const std::string invalid_utf8 = "\"\xff\"";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\":}"), std::string("nul"),
        std::string("1 2"), std::string("'x'"), invalid_utf8, std::string("\"\0\"", 3)}) {
    EXPECT_THAT(ParseJson(text), FailsWith(absl::StatusCode::kInvalidArgument, "malformed_json"));
  }
}

TEST(ParseJsonTest, BoundsTheNesting) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_OK(ParseJson(nested(kMaxJsonDepth)));
  EXPECT_THAT(ParseJson(nested(kMaxJsonDepth + 1)),
              FailsWith(absl::StatusCode::kInvalidArgument, "malformed_json"));
  EXPECT_FALSE(ParseJson(std::string(1 << 20, '[')).ok());
}

TEST(ParseJsonTest, RefusesDuplicateKeysAtAnyDepth) {
  EXPECT_THAT(ParseJson(R"({"a":1,"a":2})"),
              FailsWith(absl::StatusCode::kInvalidArgument, "duplicate_key"));
  EXPECT_THAT(ParseJson(R"([{"x":{"a":1,"b":2,"a":3}}])"),
              FailsWith(absl::StatusCode::kInvalidArgument, "duplicate_key"));
  EXPECT_OK(ParseJson(R"([{"a":1},{"a":2},{"b":{"a":3},"a":4}])"));
}

}  // namespace
}  // namespace callslip::gateway
