#ifndef CALLSLIP_GATEWAY_JSON_COMMAND_SPANS_JSON_H_
#define CALLSLIP_GATEWAY_JSON_COMMAND_SPANS_JSON_H_

#include "callslip/tracker/v1/command.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// The spans of a command, parents first, as the tracker records them once it has ended: what has
// begun is there already, without an `end`. With the ids by which they are found at a collector,
// where the tracker records them.
Json CommandSpans(const tracker::v1::Command& command);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_COMMAND_SPANS_JSON_H_
