#ifndef CALLSLIP_BRIDGE_CLIENTS_CLIENT_TABLE_H_
#define CALLSLIP_BRIDGE_CLIENTS_CLIENT_TABLE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bridge/clients/server_entry.h"

namespace callslip::bridge {

// The value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;

// A program that starts MCP servers, as it was found here.
struct Client {
  enum class Format { kJson, kToml };
  // How the client wants a command; each as its documentation has it.
  enum class Shape {
    kPlain,  // "command": "x", "args": [...]
    kTyped,  // The same with "type": "stdio".
    kLocal,  // "type": "local", "command": ["x", ...]
  };

  std::string name;     // For people: "Claude Code".
  std::string section;  // The table of the servers in its file.
  Format format = Format::kJson;
  Shape shape = Shape::kPlain;
  std::string file;  // The user's own configuration, whether it is there or not.
};

// The clients whose configuration folder is there, or whose program is in PATH. Knows Claude Code,
// Codex, Gemini CLI, opencode, VS Code and Cursor, and where their variables put their folders.
// FAILED_PRECONDITION without a HOME.
absl::StatusOr<std::vector<Client>> FindClients(const Environment& environment);

// The names of all that FindClients() looks for.
std::vector<std::string> KnownClients();

// What is to stand in the client's file, so that it starts `command`.
ServerEntry EntryFor(const Client& client, const std::vector<std::string>& command);

// `text` with the entry in it: SetJsonEntry() or SetTomlEntry().
absl::StatusOr<std::string> SetEntry(const Client& client, absl::string_view text,
                                     const ServerEntry& entry);

// The entry as it would stand in a file of its own.
std::string EntryText(const Client& client, const ServerEntry& entry);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CLIENTS_CLIENT_TABLE_H_
