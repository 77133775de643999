#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bridge/clients/server_entry.h"

namespace callslip::bridge {

// The value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;

// A program that starts MCP servers, as found on this machine.
struct Client {
  enum class Format { kJson, kToml };
  // The format of a command, according to the client's documentation.
  enum class Shape {
    kPlain,  // "command": "x", "args": [...]
    kTyped,  // Like kPlain, with "type": "stdio".
    kLocal,  // "type": "local", "command": ["x", ...]
  };

  std::string name;     // The display name: "Claude Code".
  std::string section;  // The table of servers in its file.
  Format format = Format::kJson;
  Shape shape = Shape::kPlain;
  std::string file;  // The user's own configuration file, which need not exist.
};

// The clients with an existing configuration folder or a program in PATH. Knows Claude Code, Codex,
// Gemini CLI, opencode, VS Code and Cursor, and the environment variables that set their folders.
// FAILED_PRECONDITION without a HOME.
absl::StatusOr<std::vector<Client>> FindClients(const Environment& environment);

// The names of all clients that FindClients() looks for.
std::vector<std::string> KnownClients();

// The entry for the client's file that makes it start `command`.
ServerEntry EntryFor(const Client& client, const std::vector<std::string>& command);

// `text` with the entry inserted: SetJsonEntry() or SetTomlEntry().
absl::StatusOr<std::string> SetEntry(const Client& client, absl::string_view text,
                                     const ServerEntry& entry);

// The entry in a file of its own.
std::string EntryText(const Client& client, const ServerEntry& entry);

}  // namespace callslip::bridge
