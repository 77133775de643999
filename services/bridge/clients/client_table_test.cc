#include "bridge/clients/client_table.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

namespace fs = std::filesystem;

class ClientTableTest : public testing::Test {
 protected:
  ClientTableTest() {
    std::string folder = testing::TempDir() + "clients-XXXXXX";
    home_ = mkdtemp(folder.data());
    variables_["HOME"] = home_;
  }
  ~ClientTableTest() override { fs::remove_all(home_); }

  std::vector<Client> Find() const {
    const auto found = FindClients([this](const char* name) {
      const auto variable = variables_.find(name);
      return variable == variables_.end() ? nullptr : variable->second.c_str();
    });
    return found.value_or(std::vector<Client>{});
  }

  // Installs the programs of all clients, then looks for them.
  std::vector<Client> FindAll() {
    fs::create_directories(home_ + "/bin");
    for (const char* program : {"claude", "codex", "gemini", "opencode", "code", "cursor"}) {
      std::ofstream(absl::StrCat(home_, "/bin/", program)) << "";
      chmod(absl::StrCat(home_, "/bin/", program).c_str(), 0755);
    }
    variables_["PATH"] = absl::StrCat("/nowhere:", home_, "/bin");
    return Find();
  }

  std::string home_;
  std::map<std::string, std::string> variables_;
};

TEST_F(ClientTableTest, EmptyHomeHasNoClients) { EXPECT_TRUE(Find().empty()); }

TEST_F(ClientTableTest, SearchFailsWithoutHome) {
  const auto found = FindClients([](const char*) { return nullptr; });
  EXPECT_EQ(found.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ClientTableTest, ClientIsFoundByProgramInPath) {
  const std::vector<Client> found = FindAll();
  std::vector<std::string> names;
  for (const Client& client : found) names.push_back(client.name);
  EXPECT_EQ(names, KnownClients());
}

TEST_F(ClientTableTest, ClientIsFoundByFolder) {
  const std::pair<const char*, const char*> folders[] = {
      {".claude", ".claude.json"},
      {".codex", ".codex/config.toml"},
      {".gemini", ".gemini/settings.json"},
      {".config/opencode", ".config/opencode/opencode.json"},
      {".config/Code/User", ".config/Code/User/mcp.json"},
      {".cursor", ".cursor/mcp.json"}};
  for (const auto& [folder, file] : folders) {
    fs::create_directories(absl::StrCat(home_, "/", folder));
    const std::vector<Client> found = Find();
    ASSERT_EQ(found.size(), 1u) << folder;
    EXPECT_EQ(found[0].file, absl::StrCat(home_, "/", file));
    fs::remove_all(absl::StrCat(home_, "/", folder));
  }
}

TEST_F(ClientTableTest, OpencodeFileWithCommentsIsPreferred) {
  const std::string folder = absl::StrCat(home_, "/.config/opencode/");
  fs::create_directories(folder);
  std::ofstream(folder + "opencode.json") << "{}";
  std::ofstream(folder + "opencode.jsonc") << "{}";
  EXPECT_EQ(Find().at(0).file, folder + "opencode.jsonc");
}

TEST_F(ClientTableTest, VariablesChangeFilePaths) {
  FindAll();
  for (const char* name :
       {"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"}) {
    variables_[name] = absl::StrCat("/x/", name);
  }
  std::vector<std::string> files;
  for (const Client& client : Find()) files.push_back(client.file);
  EXPECT_EQ(files, (std::vector<std::string>{
                       "/x/CLAUDE_CONFIG_DIR/.claude.json", "/x/CODEX_HOME/config.toml",
                       "/x/GEMINI_CLI_HOME/.gemini/settings.json",
                       "/x/XDG_CONFIG_HOME/opencode/opencode.json",
                       "/x/XDG_CONFIG_HOME/Code/User/mcp.json", home_ + "/.cursor/mcp.json"}));
}

TEST_F(ClientTableTest, EachClientGetsItsOwnEntryFormat) {
  const std::vector<std::string> command = {"/a \"b\"", "--gateway", "http://h:1"};
  for (const Client& client : FindAll()) {
    const ServerEntry entry = EntryFor(client, command);
    const std::string text = EntryText(client, entry);
    EXPECT_EQ(SetEntry(client, "", entry).value_or(""), text);
    if (client.format == Client::Format::kToml) {
      EXPECT_EQ(text,
                "[mcp_servers.callslip]\ncommand = \"/a \\\"b\\\"\"\n"
                "args = [\"--gateway\", \"http://h:1\"]\n");
      continue;
    }
    const auto server = nlohmann::json::parse(text)[client.section]["callslip"];
    if (client.name == "opencode") {
      EXPECT_EQ(server, (nlohmann::json{{"type", "local"}, {"command", command}}));
      continue;
    }
    EXPECT_EQ(server["command"], command[0]);
    EXPECT_EQ(server["args"], (nlohmann::json{command[1], command[2]}));
    const bool is_typed = client.name == "Claude Code" || client.name == "VS Code";
    EXPECT_EQ(server.value("type", ""), is_typed ? "stdio" : "") << client.name;
  }
}

}  // namespace
}  // namespace callslip::bridge
