#ifndef CALLSLIP_GATEWAY_JSON_COMMAND_DETAIL_H_
#define CALLSLIP_GATEWAY_JSON_COMMAND_DETAIL_H_

#include "callslip/tracker/v1/command.pb.h"
#include "gateway/json/parse.h"

// Commands as people and programs that look at them see them in JSON: docs/http.md, "Commands".
namespace callslip::gateway {

// One of a list: CommandAnswer(), its owner, its type, how it was submitted, and what has
// become of it when.
Json CommandRow(const callslip::tracker::v1::Command& command);

// One alone: with `params`, `result` (above 64 KiB `result_bytes`) and `deadlines_ms`.
Json CommandDetail(const callslip::tracker::v1::Command& command);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_COMMAND_DETAIL_H_
