#pragma once

#include <optional>

#include "gateway/http/http_message.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/json_rpc.h"

namespace callslip::gateway {

// Compares the Mcp-Param-… headers of a modern tools/call with the arguments that the tool's schema
// marks with `x-mcp-header`. kHeaderMismatch if they differ or if a header is missing.
std::optional<RpcError> CheckParamHeaders(const HttpRequest& request, const Json& input_schema,
                                          const Json& arguments);

}  // namespace callslip::gateway
