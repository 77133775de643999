#include "common/text_scan.h"

#include <limits>
#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace callslip {
namespace {

TEST(TextScanTest, PlainTextEndsAtEverySpecialByte) {
  for (int c = 0; c < 256; ++c) {
    for (size_t before = 0; before < 20; ++before) {
      const std::string text = std::string(before, 'a') + static_cast<char>(c) + "aaaaaaaa\"";
      const char* const end = text.data() + text.size();
      const bool plain = c >= ' ' && c < 0x80 && c != '"' && c != '\\';
      EXPECT_EQ(SkipPlainJson(text.data(), end) - text.data(), plain ? before + 9 : before)
          << c << " behind " << before;
    }
  }
  const std::string plain(17, '~');
  EXPECT_EQ(SkipPlainJson(plain.data(), plain.data() + 17), plain.data() + 17);
}

// `code` encoded in `length` bytes, even where fewer would be enough.
std::string Encoded(uint32_t code, size_t length) {
  if (length == 1) return {static_cast<char>(code)};
  std::string text;
  for (size_t i = 1; i < length; ++i, code >>= 6) {
    text.insert(text.begin(), static_cast<char>(0x80 | (code & 0x3F)));
  }
  const uint32_t lead = length == 2 ? 0xC0 : length == 3 ? 0xE0 : 0xF0;
  return static_cast<char>(lead | code) + text;
}

TEST(TextScanTest, CharacterIsUtf8OnlyInShortestForm) {
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    const bool is_surrogate = 0xD800 <= code && code <= 0xDFFF;
    const std::string text = Encoded(code, length);
    ASSERT_EQ(IsUtf8(text), !is_surrogate) << code;
    if (length == 1) continue;
    ASSERT_FALSE(IsUtf8(text.substr(0, length - 1))) << code;
    if (length < 4) {
      ASSERT_FALSE(IsUtf8(Encoded(code, length + 1))) << code;
    }
  }
}

TEST(TextScanTest, MalformedUtf8IsRejected) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("a\xC3\xA4z\xF0\x9F\x98\x80"));
  for (const char* text : {"\x80", "\xC3", "\xC3(", "\xE2\x82(", "\xFF", "a\xF5\x80\x80\x80",
                           "\xF4\x90\x80\x80", "\xC0\x80", "\xF8\x88\x80\x80\x80"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

TEST(TextScanTest, TextIsTruncatedBetweenCharacters) {
  const std::string text = "a\u00e4\u20ac\U0001F600b";  // 1, 2, 3, 4 and 1 bytes.
  for (size_t bytes = 0; bytes <= text.size() + 1; ++bytes) {
    const absl::string_view cut = CutText(text, bytes);
    EXPECT_TRUE(IsUtf8(cut)) << bytes;
    EXPECT_LE(cut.size(), bytes);
    EXPECT_EQ(cut, text.substr(0, cut.size()));
    // Only a character that does not fit is removed: at most 3 bytes.
    EXPECT_TRUE(cut.size() == text.size() || cut.size() + 4 > bytes) << bytes;
  }
  EXPECT_EQ(CutText(text, text.size()), text);
  EXPECT_EQ(CutText("a\u00e4", 2), "a");
}

TEST(TextScanTest, MalformedUtf8IsReplaced) {
  EXPECT_EQ(WithoutBadUtf8("a\u00e4\U0001F600\n"), "a\u00e4\U0001F600\n");
  EXPECT_EQ(WithoutBadUtf8("\xF0\x9F\x98"), "\uFFFD");
  EXPECT_EQ(WithoutBadUtf8("\x98\x80 rest"), "\uFFFD rest");
  EXPECT_EQ(WithoutBadUtf8("a\xFF\xFE"
                           "b\xC3"),
            "a\uFFFD\uFFFD"
            "b\uFFFD");
  EXPECT_EQ(WithoutBadUtf8(""), "");
}

std::string Mended(absl::string_view json) {
  std::string mended;
  return std::string(MendJson(json, mended));
}

TEST(MendJsonTest, LoneSurrogateIsReplaced) {
  EXPECT_EQ(Mended(R"("\ud83d")"), R"("\ufffd")");
  EXPECT_EQ(Mended(R"("\uD83D")"), R"("\ufffd")");
  EXPECT_EQ(Mended(R"("\ude00")"), R"("\ufffd")");
  EXPECT_EQ(Mended(R"("\ud83d\ud83d\ude00")"), R"("\ufffd\ud83d\ude00")");
  EXPECT_EQ(Mended(R"("\ude00\ud83d")"), R"("\ufffd\ufffd")");
  EXPECT_EQ(Mended(R"("\ud83dx\ude00")"), R"("\ufffdx\ufffd")");
  EXPECT_EQ(Mended(R"("\ud83d\n")"), R"("\ufffd\n")");
  EXPECT_EQ(Mended(R"("\\\ud83d")"), R"("\\\ufffd")");
  EXPECT_EQ(Mended(R"({"\udfff":"\udbff"})"), R"({"\ufffd":"\ufffd"})");
}

TEST(MendJsonTest, TextWithoutLoneSurrogatesIsUnchanged) {
  for (const absl::string_view json :
       {R"("\ud83d\ude00")", R"("\uD83D\uDE00")", R"("\\ud83d")", R"("\u00e4")", R"("\\\\ud83d")",
        R"("\ud7ff\ue000")", R"("\ud8)", R"("\ud83)", R"(\)", R"("\ud8zz")", R"(\\)", "",
        "\"\\ud83d\\ude00"}) {
    std::string mended;
    EXPECT_EQ(MendJson(json, mended), json);
    EXPECT_EQ(MendJson(json, mended).data(), json.data());
  }
}

TEST(MendJsonTest, ByteOrderMarkIsDroppedOnceAtStart) {
  EXPECT_EQ(Mended("\xEF\xBB\xBF{}"), "{}");
  EXPECT_EQ(Mended("\xEF\xBB\xBF\xEF\xBB\xBF{}"), "\xEF\xBB\xBF{}");
  EXPECT_EQ(Mended("{}\xEF\xBB\xBF"), "{}\xEF\xBB\xBF");
  EXPECT_EQ(Mended("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(Mended("\xEF\xBB\xBF\"\\ud83d\""), "\"\\ufffd\"");
}

TEST(EscapeLineSeparatorsTest, EscapesLineSeparatorsOnly) {
  std::string json = "\"a\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xA6\xE2\x80\"";
  EscapeLineSeparators(json);
  EXPECT_EQ(json, "\"a\\u2028\\u2029\xE2\x80\xA6\xE2\x80\"");
}

TEST(IntegerInTest, AcceptsExactIntegersOnly) {
  constexpr double kMaxValue = 9007199254740991;
  EXPECT_EQ(IntegerIn(7.0), 7);
  EXPECT_EQ(IntegerIn(-7.0), -7);
  EXPECT_EQ(IntegerIn(5e3), 5000);
  EXPECT_EQ(IntegerIn(-0.0), 0);
  EXPECT_EQ(IntegerIn(kMaxValue), (int64_t{1} << 53) - 1);
  for (const double other :
       {7.5, 1e-9, kMaxValue + 1, -kMaxValue - 1, 1e300, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(IntegerIn(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace callslip
