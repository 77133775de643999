#include "bridge/clients/fix.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/fake_clock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

TEST(FixTest, ChangeIsShownWithContext) {
  EXPECT_EQ(ShowChange("1\n2\n3\n4\n5\n6\n", "1\n2\n3\nx\n5\n6\n"),
            "      2\n      3\n    - 4\n    + x\n      5\n      6\n");
  EXPECT_EQ(ShowChange("", "a\nb\n"), "    + a\n    + b\n");
  EXPECT_EQ(ShowChange("a\n", "a\na\n"), "      a\n    + a\n");
}

TEST(FixTest, FileContentCannotControlTerminal) {
  const std::string shown =
      ShowChange("a\x1b[2Jb\n", absl::StrCat("a\x1b[2Jb\n", std::string(900, 'x')));
  EXPECT_FALSE(absl::StrContains(shown, "\x1b"));
  EXPECT_LT(shown.size(), 300u);
}

TEST(FixTest, NothingIsWrittenWithoutConfirmation) {
  std::string folder = testing::TempDir() + "fix-XXXXXX";
  const std::string path = absl::StrCat(mkdtemp(folder.data()), "/mcp.json");
  const std::vector<Client> clients = {{.name = "Cursor", .section = "mcpServers", .file = path}};
  FakeClock clock;
  std::string told;
  bool answer = false;
  const Person person = {.tell = [&](absl::string_view text) { absl::StrAppend(&told, text); },
                         .ask = [&](absl::string_view) { return answer; }};
  EXPECT_TRUE(FixClients(clients, {"/b"}, person, clock));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(absl::StrContains(told, "+   \"mcpServers\"")) << told;
  EXPECT_TRUE(absl::StrContains(told, "is left as it is")) << told;
  answer = true;
  EXPECT_TRUE(FixClients(clients, {"/b"}, person, clock));
  EXPECT_TRUE(std::filesystem::exists(path));
  told.clear();
  EXPECT_TRUE(FixClients(clients, {"/b"}, person, clock));
  EXPECT_TRUE(absl::StrContains(told, "already")) << told;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace callslip::bridge
