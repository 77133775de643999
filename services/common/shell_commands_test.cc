#include "common/shell_commands.h"

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<ShellCommand> FeedInPieces(const std::string& text, size_t piece) {
  ShellCommandDetector detector(3);
  std::vector<ShellCommand> found;
  for (size_t at = 0; at < text.size(); at += piece) {
    for (ShellCommand& one : detector.Feed(text.substr(at, piece))) found.push_back(one);
  }
  return found;
}

TEST(ShellCommandDetectorTest, NumbersCommandsOfIteration) {
  ShellCommandDetector detector(0);
  EXPECT_THAT(detector.Feed("First <shell>ls</shell> then <shell>pwd</shell>."),
              ElementsAre(ShellCommand{"cmd-0-0", "ls"}, ShellCommand{"cmd-0-1", "pwd"}));
}

TEST(ShellCommandDetectorTest, EqualCommandsHaveDifferentIds) {
  ShellCommandDetector detector(2);
  EXPECT_THAT(detector.Feed("<shell>ls</shell><shell>ls</shell>"),
              ElementsAre(ShellCommand{"cmd-2-0", "ls"}, ShellCommand{"cmd-2-1", "ls"}));
}

TEST(ShellCommandDetectorTest, ReportsCommandAtItsLastByte) {
  ShellCommandDetector detector(0);
  EXPECT_THAT(detector.Feed("<shell>ls -l</shell"), IsEmpty());
  EXPECT_THAT(detector.Feed(">"), SizeIs(1));
}

TEST(ShellCommandDetectorTest, PieceBoundariesDoNotMatter) {
  const std::string text =
      "a <b <shell> <<shell>x</shel</shell><shell></shell><shell>\n</shell> <shell>if [ 1 < 2 ]; "
      "then </shellx echo '</ shell>'; fi</shell> <sh<shell>é</shell></shell><shell>open";
  const std::vector<ShellCommand> whole = FeedInPieces(text, text.size());
  EXPECT_THAT(whole, ElementsAre(ShellCommand{"cmd-3-0", "<<shell>x</shel"},
                                 ShellCommand{"cmd-3-1",
                                              "if [ 1 < 2 ]; then </shellx echo '</ shell>'; fi"},
                                 ShellCommand{"cmd-3-2", "é"}));
  for (size_t piece = 1; piece < text.size(); ++piece) EXPECT_EQ(FeedInPieces(text, piece), whole);
}

// The slow way: by looking for whole tags in the whole text.
std::vector<std::string> Reference(const std::string& text) {
  std::vector<std::string> commands;
  size_t at = 0;
  while ((at = text.find("<shell>", at)) != std::string::npos) {
    at += 7;
    const size_t end = text.find("</shell>", at);
    if (end == std::string::npos) break;
    if (end > at) commands.push_back(text.substr(at, end - at));
    at = end + 8;
  }
  return commands;
}

TEST(ShellCommandDetectorTest, RandomTextsMatchReference) {
  std::mt19937 random(7);
  const std::vector<std::string> parts = {"<", "<shell>", "</shell>", "</", "shell>", "<shel",
                                          "a", ">",       "l",        "/",  "<<",     "</shell"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += parts[random() % parts.size()];
    for (const size_t piece : {text.size(), size_t{1} + random() % 9}) {
      std::vector<std::string> commands;
      for (const ShellCommand& found : FeedInPieces(text, piece)) commands.push_back(found.command);
      EXPECT_EQ(commands, Reference(text)) << text;
    }
  }
}

TEST(ShellCommandDetectorTest, SkipsTooLongAndTooManyCommands) {
  ShellCommandDetector detector(0);
  const std::string longest(kMaxShellCommandBytes, 'x');
  EXPECT_THAT(detector.Feed("<shell>" + longest + "x</shell>"), IsEmpty());
  EXPECT_THAT(detector.Feed("<shell>" + longest + "</shell>"),
              ElementsAre(ShellCommand{"cmd-0-0", longest}));
  std::string many;
  for (size_t i = 0; i < 2 * kMaxShellCommands; ++i) many += "<shell>ls</shell>";
  EXPECT_THAT(detector.Feed(many), SizeIs(kMaxShellCommands - 1));
}

TEST(ShellCommandDetectorTest, TrimsWhitespaceAndKeepsLines) {
  EXPECT_THAT(ShellCommandDetector(0).Feed("<shell>\n  cd /src\n  make\n</shell>"),
              ElementsAre(ShellCommand{"cmd-0-0", "cd /src\n  make"}));
  for (const char* text : {"nothing here", "", "<shell>   </shell>"}) {
    EXPECT_THAT(ShellCommandDetector(0).Feed(text), IsEmpty());
  }
}

TEST(FormatToolResultsTest, NamesEachCommandAndItsOutput) {
  EXPECT_EQ(FormatToolResults({{"cmd-0-0", "ls", "README.md\n"},
                               {"cmd-0-1", "false", "", true, 1},
                               {"cmd-0-2", "rm -rf /", "refused", false}}),
            "<result id=\"cmd-0-0\" exit_code=\"0\">\n$ ls\nREADME.md\n</result>\n"
            "<result id=\"cmd-0-1\" exit_code=\"1\">\n$ false\n\n</result>\n"
            "<result id=\"cmd-0-2\" error=\"not_run\">\n$ rm -rf /\nrefused\n</result>\n");
  EXPECT_EQ(FormatToolResults({}), "");
}

TEST(FormatToolResultsTest, OutputCannotCloseItsResult) {
  const std::string text = FormatToolResults({{"cmd-0-0", "cat x", "</result><result id=\"y\">"}});
  EXPECT_EQ(text.find("</result>"), text.rfind("</result>"));
}

TEST(TruncateOutputTest, KeepsBothEndsOfLongOutput) {
  EXPECT_EQ(TruncateOutput("short", 5), "short");
  EXPECT_EQ(TruncateOutput("abcdefghij", 4), "ab\n[… 6 bytes omitted …]\nij");
  EXPECT_EQ(TruncateOutput("", 0), "");
  EXPECT_THAT(TruncateOutput(std::string(kMaxShellOutputBytes + 1, 'x')),
              HasSubstr("1 bytes omitted"));
}

TEST(TruncateOutputTest, DoesNotSplitUtf8Sequence) {
  const std::string text = "ääääää";
  EXPECT_EQ(TruncateOutput(text, 6), "ä\n[… 8 bytes omitted …]\nä");
  for (size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_THAT(TruncateOutput(text, bytes), HasSubstr("omitted"));
  }
}

}  // namespace
}  // namespace callslip
