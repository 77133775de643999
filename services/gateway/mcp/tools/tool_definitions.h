#pragma once

#include "gateway/json/parse.h"

namespace callslip::gateway {

// The tools' entries in tools/list. The texts are for models, which pay for each word.
const Json& InteractDefinition();
const Json& ObserveDefinition();
const Json& AnalyzeDefinition();
const Json& SessionDefinition();
// For an agent that runs in a session.
const Json& SessionDefinitionForAgent();

}  // namespace callslip::gateway
