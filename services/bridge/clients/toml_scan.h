#ifndef CALLSLIP_BRIDGE_CLIENTS_TOML_SCAN_H_
#define CALLSLIP_BRIDGE_CLIENTS_TOML_SCAN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace callslip::bridge {

// One statement of a TOML text: the header of a table, or a key with its value.
struct TomlStatement {
  enum class Kind { kTable, kTableOfArray, kValue };

  Kind kind = Kind::kValue;
  std::vector<std::string> key;  // As it stands there, without the table's; decoded.
  size_t at = 0;                 // Of its first character.
  size_t end = 0;                // Behind its last one.
  size_t value_at = 0;           // Of a value.
  // A string, or a list of strings, as JSON without space; of other values the text itself.
  std::string value;
};

// The statements in their order. INVALID_ARGUMENT, naming the line, for what is no TOML. Of
// numbers, dates and the like it only looks where they end, and what a key means twice it leaves to
// others.
absl::StatusOr<std::vector<TomlStatement>> ScanToml(absl::string_view text);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CLIENTS_TOML_SCAN_H_
