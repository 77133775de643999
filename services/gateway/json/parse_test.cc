#include "gateway/json/parse.h"

#include <string>

#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

TEST(ParseJsonTest, AcceptsEveryKindOfValue) {
  for (const char* text : {"null", "true", "-1", "18446744073709551615", "1.5", "\"x\"", "[]", "{}",
                           R"({"a":[1,{"b":null}],"c":{"d":[[]]}})"}) {
    const auto parsed = ParseJson(text);
    ASSERT_OK(parsed) << text;
    EXPECT_EQ(Dump(*parsed), text);
  }
}

TEST(ParseJsonTest, RemovesByteOrderMarkAndReplacesLoneSurrogates) {
  EXPECT_EQ(*ParseJson("\xEF\xBB\xBF{}"), Json::object());
  EXPECT_EQ(*ParseJson(R"("\ud83d")"), "\uFFFD");
  EXPECT_EQ(*ParseJson(R"(["\uDE00\ud83d", "\ud83d\ude00"])"),
            Json::array({"\uFFFD\uFFFD", "\U0001F600"}));
  EXPECT_EQ(*ParseJson(R"({"\udfff":1})"), (Json{{"\uFFFD", 1}}));
}

TEST(ParseJsonTest, NumberWithoutFractionIsInteger) {
  EXPECT_EQ(Dump(*ParseJson("[7.0,-7.0,5e3,-0.0,1.5e1,9007199254740991.0]")),
            "[7,-7,5000,0,15,9007199254740991]");
  EXPECT_EQ(Dump(*ParseJson("[1.5,1e300,1e-7]")), "[1.5,1e+300,1e-07]");
}

TEST(ParseJsonTest, RefusesInvalidJson) {
  const std::string invalid_utf8 = "\"\xff\"";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\":}"), std::string("nul"),
        std::string("1 2"), std::string("'x'"), invalid_utf8, std::string("\"\0\"", 3)}) {
    EXPECT_THAT(ParseJson(text), FailsWith(absl::StatusCode::kInvalidArgument, "malformed_json"));
  }
}

TEST(ParseJsonTest, BoundsNestingDepth) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_OK(ParseJson(nested(kMaxJsonDepth)));
  EXPECT_THAT(ParseJson(nested(kMaxJsonDepth + 1)),
              FailsWith(absl::StatusCode::kInvalidArgument, "malformed_json"));
  EXPECT_FALSE(ParseJson(std::string(1 << 20, '[')).ok());
}

TEST(ParseJsonTest, BoundsNumberOfValues) {
  // The array counts as a value, too.
  const auto array_of = [](const std::string& value, int count) {
    std::string text = "[" + value;
    for (int i = 1; i < count; ++i) text += "," + value;
    return text + "]";
  };
  for (const char* value : {"{}", "[]", "1", "-1", "0.5", "\"a\"", "true", "null"}) {
    EXPECT_TRUE(ParseJson(array_of(value, kMaxJsonValues - 1)).ok()) << value;
    const absl::Status refused = ParseJson(array_of(value, kMaxJsonValues)).status();
    EXPECT_EQ(DetailsOf(refused).reason, "too_many_values") << value;
  }
  // A text that is not JSON gets its own error, unless the limit is reached first.
  EXPECT_EQ(DetailsOf(ParseJson("[1,").status()).reason, "malformed_json");
}

TEST(ParseJsonTest, RefusesDuplicateKeysAtAnyDepth) {
  EXPECT_THAT(ParseJson(R"({"a":1,"a":2})"),
              FailsWith(absl::StatusCode::kInvalidArgument, "duplicate_key"));
  EXPECT_THAT(ParseJson(R"([{"x":{"a":1,"b":2,"a":3}}])"),
              FailsWith(absl::StatusCode::kInvalidArgument, "duplicate_key"));
  EXPECT_OK(ParseJson(R"([{"a":1},{"a":2},{"b":{"a":3},"a":4}])"));
}

// Dump() looks at eight bytes at a time, so each byte is tested at every position among plain ones.
TEST(DumpTest, EscapesAsNlohmannDoes) {
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t at = 0; at < 18; ++at) {
      std::string text(18, at % 2 == 0 ? ' ' : '\x7f');
      text[at] = static_cast<char>(byte);
      if (at > 0) text[at - 1] = '!';
      const Json json = {{text, text}};
      EXPECT_EQ(Dump(json), json.dump(-1, ' ', false, Json::error_handler_t::replace))
          << byte << " at " << at;
    }
  }
}

TEST(DumpTest, EscapesUnicodeLineSeparators) {
  EXPECT_EQ(Dump(Json{{"a\u2028", "\u2029\u2026\n"}}), "{\"a\\u2028\":\"\\u2029\u2026\\n\"}");
}

TEST(DumpTest, AppendsToExistingText) {
  std::string text = "[";
  AppendDump(Json{{"a", 1}}, text);
  EXPECT_EQ(text, R"([{"a":1})");
}

}  // namespace
}  // namespace callslip::gateway
