#pragma once

#include "callslip/tracker/v1/command.pb.h"
#include "gateway/json/parse.h"

// Commands in JSON for people and programs that observe them: docs/http.md, "Commands".
namespace callslip::gateway {

// A row of a list: CommandAnswer(), with the owner, the kind of command, how it was submitted, and
// its history with times.
Json CommandRow(const callslip::tracker::v1::Command& command);

// A single command: also with `params`, `result` (above 64 KiB `result_bytes`) and `deadlines_ms`.
Json CommandDetail(const callslip::tracker::v1::Command& command);

}  // namespace callslip::gateway
