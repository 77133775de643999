#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_TOOL_DEFINITIONS_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_TOOL_DEFINITIONS_H_

#include "gateway/json/parse.h"

namespace callslip::gateway {

// What tools/list says of each tool. The texts are written for models, which pay for each word.
const Json& InteractDefinition();
const Json& ObserveDefinition();
const Json& AnalyzeDefinition();
const Json& SessionDefinition();
// For an agent that lives in a session.
const Json& SessionDefinitionForAgent();

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_TOOL_DEFINITIONS_H_
