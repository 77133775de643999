#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bridge/clients/server_entry.h"

namespace callslip::bridge {

// Inserts the entry into `text` and changes nothing else: comments, order and space stay.
// Idempotent. An entry that has a command keeps its other members; any other value of that name is
// replaced. A text of only space becomes an object.
//
// INVALID_ARGUMENT if the text is not JSON, FAILED_PRECONDITION if there is something else in its
// place; the message says what.
absl::StatusOr<std::string> SetJsonEntry(absl::string_view text, const ServerEntry& entry);

// A complete file with only the entry, for users to copy from.
std::string JsonWithEntry(const ServerEntry& entry);

}  // namespace callslip::bridge
