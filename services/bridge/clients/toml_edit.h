#ifndef CALLSLIP_BRIDGE_CLIENTS_TOML_EDIT_H_
#define CALLSLIP_BRIDGE_CLIENTS_TOML_EDIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bridge/clients/server_entry.h"

namespace callslip::bridge {

// The same as SetJsonEntry() for TOML: appends the table [section.name] where it is not there; sets
// the values in it where it has a command.
absl::StatusOr<std::string> SetTomlEntry(absl::string_view text, const ServerEntry& entry);

// The table, for people to copy from.
std::string TomlTable(const ServerEntry& entry);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CLIENTS_TOML_EDIT_H_
