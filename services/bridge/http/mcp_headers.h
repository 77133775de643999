#ifndef CALLSLIP_BRIDGE_HTTP_MCP_HEADERS_H_
#define CALLSLIP_BRIDGE_HTTP_MCP_HEADERS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "bridge/json/json_rpc.h"

namespace callslip::bridge {

// Adds the line of an HTTP header to a head. `value` holds nothing that could end the line.
void AddHeader(std::string& head, absl::string_view name, absl::string_view value);

// The lines of the headers that repeat what a message of the stateless revisions says of itself:
// MCP-Protocol-Version, Mcp-Method and, where it names something, Mcp-Name.
std::string MirroredHeaders(const Message& message);

// `value` as it is, or as `=?base64?…?=` where it would not survive in a header: characters beyond
// printable ASCII, a space at either end, or text that looks like an encoded value itself.
std::string EncodeHeaderValue(absl::string_view value);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_HTTP_MCP_HEADERS_H_
