#ifndef CALLSLIP_BRIDGE_CLIENTS_JSON_EDIT_H_
#define CALLSLIP_BRIDGE_CLIENTS_JSON_EDIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bridge/clients/server_entry.h"

namespace callslip::bridge {

// `text` with the entry in it, and nothing else of it changed: comments, order and space stay. Done
// a second time it changes nothing. An entry with a command keeps what else it says; another one of
// that name is replaced. A text of nothing but space becomes an object.
//
// INVALID_ARGUMENT where the text is not JSON, FAILED_PRECONDITION where something else is in the
// place; the message says what.
absl::StatusOr<std::string> SetJsonEntry(absl::string_view text, const ServerEntry& entry);

// The whole file that would have nothing but the entry; for people to copy from.
std::string JsonWithEntry(const ServerEntry& entry);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CLIENTS_JSON_EDIT_H_
