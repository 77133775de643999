#pragma once

#include <optional>
#include <string>

#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/tool.h"

// The parts of a CallToolResult: text, and images extracted from JSON.
namespace callslip::gateway {

// An answer with the text `text`.
ToolResult TextResult(Json structured, std::string text, bool is_error = false);

// An image that a worker returned: {"mime_type": "image/…", "base64": …}, bare or as `data`.
// Invalid Base64 is not an image: clients would refuse the whole answer.
struct ImageResult {
  std::string mime_type;
  std::string base64;
};
// Moves the image out of `result` and leaves its size there. Nullopt if there is none.
std::optional<ImageResult> TakeImage(Json& result);

}  // namespace callslip::gateway
