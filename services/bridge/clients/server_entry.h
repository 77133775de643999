#pragma once

#include <string>
#include <utility>
#include <vector>

namespace callslip::bridge {

// The entry for one MCP server in a client's file, and its place there.
struct ServerEntry {
  std::string section;  // The table of all servers: "mcpServers".
  std::string name;     // The name of this server: "callslip".
  // Keys with values, which are strings or lists of strings: JSON on one line that is also TOML.
  std::vector<std::pair<std::string, std::string>> members;
};

}  // namespace callslip::bridge
