#include "bridge/clients/client_table.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "bridge/clients/json_edit.h"
#include "bridge/clients/jsonc.h"
#include "bridge/clients/toml_edit.h"

namespace callslip::bridge {
namespace {

namespace fs = std::filesystem;

// The facts from a client's documentation. Folders and files are below `base`, which is the
// variable's value or, if that is not set, `otherwise` in the home directory.
struct Row {
  const char* name;
  const char* program;
  const char* variable;
  const char* otherwise;
  const char* folder;              // Exists once the client has run.
  std::vector<const char*> files;  // The first existing one is used; else the last.
  const char* section;
  Client::Format format;
  Client::Shape shape;
};

const std::vector<Row>& Rows() {
  using Format = Client::Format;
  using Shape = Client::Shape;
  static const auto& rows = *new std::vector<Row>{
      // docs.claude.com, "Connect Claude Code to tools via MCP": the user's scope. If
      // CLAUDE_CONFIG_DIR is set, the file is in that folder.
      {"Claude Code",
       "claude",
       "CLAUDE_CONFIG_DIR",
       "",
       ".claude",
       {".claude.json"},
       "mcpServers",
       Format::kJson,
       Shape::kTyped},
      // developers.openai.com/codex/mcp
      {"Codex",
       "codex",
       "CODEX_HOME",
       ".codex",
       "",
       {"config.toml"},
       "mcp_servers",
       Format::kToml,
       Shape::kPlain},
      // geminicli.com/docs/reference/configuration
      {"Gemini CLI",
       "gemini",
       "GEMINI_CLI_HOME",
       "",
       ".gemini",
       {".gemini/settings.json"},
       "mcpServers",
       Format::kJson,
       Shape::kPlain},
      // opencode.ai/docs/config; of the two files the one with comments takes precedence.
      {"opencode",
       "opencode",
       "XDG_CONFIG_HOME",
       ".config",
       "opencode",
       {"opencode/opencode.jsonc", "opencode/opencode.json"},
       "mcp",
       Format::kJson,
       Shape::kLocal},
      // code.visualstudio.com/docs/copilot/reference/mcp-configuration: the user's profile.
      {"VS Code",
       "code",
       "XDG_CONFIG_HOME",
       ".config",
       "Code/User",
       {"Code/User/mcp.json"},
       "servers",
       Format::kJson,
       Shape::kTyped},
      // cursor.com/docs/mcp
      {"Cursor",
       "cursor",
       nullptr,
       "",
       ".cursor",
       {".cursor/mcp.json"},
       "mcpServers",
       Format::kJson,
       Shape::kPlain},
  };
  return rows;
}

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

bool IsInPath(const std::string& program, const Environment& environment) {
  const char* path = environment("PATH");
  if (path == nullptr) return false;
  for (const absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    const std::string file = absl::StrCat(folder, "/", program);
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

fs::path BaseOf(const Row& row, const fs::path& home, const Environment& environment) {
  const char* value = row.variable == nullptr ? nullptr : environment(row.variable);
  // Relative paths would depend on the folder in which the client is started.
  if (value != nullptr && *value == '/') return value;
  return home / row.otherwise;
}

std::string FileOf(const Row& row, const fs::path& base) {
  const auto found = std::find_if(row.files.begin(), row.files.end(),
                                  [&](const char* file) { return Exists(base / file); });
  return base / (found == row.files.end() ? row.files.back() : *found);
}

std::string QuoteList(std::vector<std::string>::const_iterator begin,
                      std::vector<std::string>::const_iterator end) {
  const auto quote = [](std::string* out, const std::string& each) { *out += QuoteJson(each); };
  return absl::StrCat("[", absl::StrJoin(begin, end, ", ", quote), "]");
}

}  // namespace

absl::StatusOr<std::vector<Client>> FindClients(const Environment& environment) {
  const char* home = environment("HOME");
  if (home == nullptr || *home != '/') {
    return absl::FailedPreconditionError("HOME names no folder, in which clients would be found");
  }
  std::vector<Client> found;
  for (const Row& row : Rows()) {
    const fs::path base = BaseOf(row, home, environment);
    const std::string file = FileOf(row, base);
    if (!Exists(base / row.folder) && !Exists(file) && !IsInPath(row.program, environment)) {
      continue;
    }
    found.push_back({.name = row.name,
                     .section = row.section,
                     .format = row.format,
                     .shape = row.shape,
                     .file = file});
  }
  return found;
}

std::vector<std::string> KnownClients() {
  std::vector<std::string> names;
  for (const Row& row : Rows()) names.emplace_back(row.name);
  return names;
}

ServerEntry EntryFor(const Client& client, const std::vector<std::string>& command) {
  ServerEntry entry = {.section = client.section, .name = "callslip", .members = {}};
  if (client.shape == Client::Shape::kLocal) {
    entry.members = {{"type", QuoteJson("local")},
                     {"command", QuoteList(command.begin(), command.end())}};
    return entry;
  }
  if (client.shape == Client::Shape::kTyped) entry.members = {{"type", QuoteJson("stdio")}};
  entry.members.emplace_back("command", QuoteJson(command.front()));
  entry.members.emplace_back("args", QuoteList(command.begin() + 1, command.end()));
  return entry;
}

absl::StatusOr<std::string> SetEntry(const Client& client, absl::string_view text,
                                     const ServerEntry& entry) {
  return client.format == Client::Format::kToml ? SetTomlEntry(text, entry)
                                                : SetJsonEntry(text, entry);
}

std::string EntryText(const Client& client, const ServerEntry& entry) {
  return client.format == Client::Format::kToml ? TomlTable(entry) : JsonWithEntry(entry);
}

}  // namespace callslip::bridge
