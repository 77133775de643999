#pragma once

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
  std::vector<std::string> key;  // As written there, without the table's key; decoded.
  size_t at = 0;                 // The first character.
  size_t end = 0;                // After the last character.
  size_t value_at = 0;           // The start of a value.
  // For a string, or a list of strings: JSON without space; for other values the text itself.
  std::string value;
};

// The statements in order. INVALID_ARGUMENT, naming the line, if the text is not TOML. Does not
// validate numbers, dates and the like, only finds their end; does not check for duplicate keys.
absl::StatusOr<std::vector<TomlStatement>> ScanToml(absl::string_view text);

}  // namespace callslip::bridge
