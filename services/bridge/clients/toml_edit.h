#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bridge/clients/server_entry.h"

namespace callslip::bridge {

// Like SetJsonEntry(), for TOML: appends the table [section.name] if it does not exist; sets its
// values if it has a command.
absl::StatusOr<std::string> SetTomlEntry(absl::string_view text, const ServerEntry& entry);

// The table, for users to copy from.
std::string TomlTable(const ServerEntry& entry);

}  // namespace callslip::bridge
