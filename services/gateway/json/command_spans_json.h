#pragma once

#include "callslip/tracker/v1/command.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// The spans of a command, parents first, as the tracker records them once the command has ended.
// Spans in progress are included without an `end`. If the tracker records spans, each has the ID
// under which a collector finds it.
Json CommandSpans(const tracker::v1::Command& command);

}  // namespace callslip::gateway
