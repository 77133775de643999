#include "bridge/clients/toml_edit.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bridge/clients/toml_scan.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

constexpr char kTable[] =
    "[mcp_servers.callslip]\ncommand = \"/bin/bridge\"\nargs = [\"--gateway\", \"http://h:1\"]\n";

const ServerEntry& TomlServer() {
  static const auto& entry = *new ServerEntry{
      .section = "mcp_servers",
      .name = "callslip",
      .members = {{"command", R"("/bin/bridge")"}, {"args", R"(["--gateway", "http://h:1"])"}}};
  return entry;
}

std::string SetInToml(absl::string_view text) {
  const auto changed = SetTomlEntry(text, TomlServer());
  EXPECT_TRUE(changed.ok()) << text << "\n" << changed.status();
  return changed.value_or("");
}

TEST(TomlEditTest, AppendsTheTable) {
  EXPECT_EQ(SetInToml(""), kTable);
  EXPECT_EQ(SetInToml("model = 'x'"), absl::StrCat("model = 'x'\n\n", kTable));
  EXPECT_EQ(
      SetInToml("[mcp_servers.other]\ncommand = \"[mcp_servers.callslip]\" # c\n"),
      absl::StrCat("[mcp_servers.other]\ncommand = \"[mcp_servers.callslip]\" # c\n\n", kTable));
  EXPECT_EQ(SetInToml("a = 1\r\n"),
            "a = 1\r\n\r\n[mcp_servers.callslip]\r\ncommand = \"/bin/bridge\"\r\nargs = "
            "[\"--gateway\", \"http://h:1\"]\r\n");
}

TEST(TomlEditTest, TableHeaderInStringIsIgnored) {
  const std::string text =
      "a = '''\n[mcp_servers.callslip]\ncommand = 1\n'''\nb = [\n \"]\", # ]\n]\n";
  EXPECT_EQ(SetInToml(text), absl::StrCat(text, "\n", kTable));
}

TEST(TomlEditTest, EquivalentTableIsLeftUnchanged) {
  const char* texts[] = {
      "[ mcp_servers . \"callslip\" ] # mine\nargs = [\n  '--gateway', # where\n  "
      "\"http://h:1\",\n]\n"
      "command = '/bin/bridge'\nenabled = true\n[x]\n",
      kTable};
  for (const char* text : texts) EXPECT_EQ(SetInToml(text), text);
}

TEST(TomlEditTest, SetsTheValuesThatDiffer) {
  EXPECT_EQ(SetInToml("[mcp_servers.callslip]\n# old\ncommand = 'x' # here\nenv = { A = \"b\" }\n"
                      "[mcp_servers.callslip.tools.y]\ncommand = 1\n"),
            "[mcp_servers.callslip]\n# old\nargs = [\"--gateway\", \"http://h:1\"]\n"
            "command = \"/bin/bridge\" # here\nenv = { A = \"b\" }\n"
            "[mcp_servers.callslip.tools.y]\ncommand = 1\n");
}

TEST(TomlEditTest, BrokenTextIsRefused) {
  const char* texts[] = {"a",      "a =",     "a = \"x",    "[a",
                         "a = [1", "= 1",     "a = {b = 1", "a = 'x",
                         "[[a]",   "a = '''", "a = \"\n\"", "\"\"\"a\"\"\"=1"};
  for (const char* text : texts) {
    const auto changed = SetTomlEntry(text, TomlServer());
    EXPECT_EQ(changed.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(TomlEditTest, UnsupportedServerNotationsAreRefused) {
  const char* texts[] = {"mcp_servers = {}\n",
                         "mcp_servers.callslip.command = 'x'\n",
                         "mcp_servers.other.command = 'x'\n",
                         "[mcp_servers]\ncallslip = { command = 'x' }\n",
                         "[[mcp_servers]]\n",
                         "[[mcp_servers.callslip]]\ncommand = 'x'\n",
                         "[mcp_servers.callslip]\nurl = 'http://h:1/mcp'\n",
                         "[mcp_servers.callslip]\n[x]\n[mcp_servers.callslip]\n"};
  for (const char* text : texts) {
    EXPECT_EQ(SetTomlEntry(text, TomlServer()).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << text;
  }
}

TEST(TomlEditTest, ExistingContentIsPreserved) {
  const std::vector<std::string> parts = {"a = 1\n",
                                          "# c [x]\n",
                                          "\n",
                                          "[t]\n",
                                          "[mcp_servers.other]\n",
                                          "[\"q.[\"]\n",
                                          "l = [1, [2], ]\n",
                                          "s = '''\n[\n'''\n",
                                          "d = 1979-05-27 07:32:00\n",
                                          "i = {a = '}', b = [1]}\n",
                                          "e = \"\\\" = [\"\n",
                                          "[[arr]]\n",
                                          "x.y = true # z\n",
                                          "\r\n"};
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string before;
    for (unsigned i = random() % 8; i > 0; --i) before += parts[random() % parts.size()];
    const std::string after = SetInToml(before);
    ASSERT_TRUE(absl::StartsWith(after, before)) << before;
    ASSERT_EQ(SetInToml(after), after) << before;
    const auto statements = ScanToml(after);
    ASSERT_TRUE(statements.ok()) << after;
    const auto was = ScanToml(before);
    ASSERT_TRUE(was.ok()) << before;
    ASSERT_EQ(statements->size(), was->size() + 3) << after;
  }
}

TEST(TomlEditTest, ArbitraryTextDoesNotCrash) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (unsigned i = random() % 30; i > 0; --i) text += "a=[]{}'\"\\#.\n 1,"[random() % 15];
    const auto changed = SetTomlEntry(text, TomlServer());
    if (!changed.ok()) continue;
    ASSERT_EQ(SetInToml(*changed), *changed) << text;
  }
}

}  // namespace
}  // namespace callslip::bridge
