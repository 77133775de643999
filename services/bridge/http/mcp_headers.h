#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "bridge/json/json_rpc.h"

namespace callslip::bridge {

// Adds the line of an HTTP header to a head. `value` must not contain anything that ends the line.
void AddHeader(std::string& head, absl::string_view name, absl::string_view value);

// The header lines that repeat members of a message in the stateless revisions:
// MCP-Protocol-Version, Mcp-Method and, if the message names something, Mcp-Name.
std::string MirroredHeaders(const Message& message);

// `value` unchanged, or as `=?base64?…?=` if a header cannot carry it: characters beyond printable
// ASCII, a space at either end, or text that itself looks like an encoded value.
std::string EncodeHeaderValue(absl::string_view value);

}  // namespace callslip::bridge
