#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_RESULT_CONTENT_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_RESULT_CONTENT_H_

#include <optional>
#include <string>

#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/tool.h"

// What a CallToolResult consists of: text, and images that are taken out of JSON.
namespace callslip::gateway {

// An answer that says `text`.
ToolResult TextResult(Json structured, std::string text, bool is_error = false);

// An image that a worker returned: {"mime_type": "image/…", "base64": …}, bare or as `data`. Base64
// that is broken makes no image: clients would refuse the whole answer.
struct ImageResult {
  std::string mime_type;
  std::string base64;
};
// Takes the image out of `result` and leaves its size there. Nullopt where there is none.
std::optional<ImageResult> TakeImage(Json& result);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_RESULT_CONTENT_H_
