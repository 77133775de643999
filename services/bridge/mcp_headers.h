#ifndef CALLSLIP_BRIDGE_MCP_HEADERS_H_
#define CALLSLIP_BRIDGE_MCP_HEADERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "bridge/json_rpc.h"

namespace callslip::bridge {

// Names and values of HTTP headers. Values hold nothing that could end a header.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The headers that repeat what a message of the stateless revisions says of itself:
// MCP-Protocol-Version, Mcp-Method and, where it names something, Mcp-Name.
Headers MirroredHeaders(const Message& message);

// `value` as it is, or as `=?base64?…?=` where it would not survive in a header: characters beyond
// printable ASCII, a space at either end, or text that looks like an encoded value itself.
std::string EncodeHeaderValue(absl::string_view value);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_MCP_HEADERS_H_
