#ifndef CALLSLIP_BRIDGE_CLIENTS_SERVER_ENTRY_H_
#define CALLSLIP_BRIDGE_CLIENTS_SERVER_ENTRY_H_

#include <string>
#include <utility>
#include <vector>

namespace callslip::bridge {

// What a client's file is to say of one MCP server, and where.
struct ServerEntry {
  std::string section;  // The table of all servers: "mcpServers".
  std::string name;     // Of this one: "callslip".
  // Keys with values, which are strings or lists of strings: JSON on one line, and TOML as well.
  std::vector<std::pair<std::string, std::string>> members;
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CLIENTS_SERVER_ENTRY_H_
