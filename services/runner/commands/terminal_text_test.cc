#include "runner/commands/terminal_text.h"

#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

TEST(TerminalTextTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(TerminalText("a\tb\r\n\x1b[2K\x7f\xc2\x9b"
                         "2J"),
            "a\tb\\x0d\n\\x1b[2K\\x7f\\x9b2J");
  EXPECT_EQ(TerminalText({"\0", 1}), "\\x00");
}

TEST(TerminalTextTest, LineStaysOneLine) {
  EXPECT_EQ(TerminalLine("rm -rf ~ #\r\x1b[2K? ls\n  1 No\t"),
            "rm -rf ~ #\\x0d\\x1b[2K? ls\\x0a  1 No\\x09");
  EXPECT_EQ(TerminalLine("\u202Etxt\u2069 \u200F\u061C\u2028"),
            "\\u202etxt\\u2069 \\u200f\\u061c\\u2028");
}

TEST(TerminalTextTest, OtherTextIsUnchanged) {
  const char all[] = "it's \"caf\u00E9\" \u2026 \u65E5\u672C \U0001F600 \u00A0\u2027\u202F\\";
  EXPECT_EQ(TerminalText(all), all);
  EXPECT_EQ(TerminalLine(all), all);
  // Text in Arabic has marks of its own.
  EXPECT_EQ(TerminalText("\u200F"), "\u200F");
  for (const char* part : {"\xc2", "\xe2\x80", "\xf0"}) EXPECT_EQ(TerminalLine(part), part);
}

}  // namespace
}  // namespace callslip::runner
