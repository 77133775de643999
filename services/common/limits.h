#pragma once

#include <cstddef>

#include "absl/time/time.h"

// Limits that several programs share. Limits of one program are in its own *limits.h.
namespace callslip {

// The longest wait that a call can request: below the 60 s at which most MCP clients and HTTP
// intermediaries give up. gateway/timeouts.h shows how the deadlines around it nest.
inline constexpr absl::Duration kMaxWait = absl::Seconds(55);

// The params of a command: a script or a form's worth of text; larger inputs belong behind a URL.
inline constexpr size_t kMaxParamsBytes = size_t{1} << 20;
// The result of a command: a full-page screenshot as base64. Including its envelope, it stays below
// the 10 MiB that MCP clients accept as one line.
inline constexpr size_t kMaxResultBytes = size_t{8} << 20;

// The maximum number of values in one JSON text, including nested ones. A page's result has about
// ten thousand. Each value costs a hundred bytes of memory, for as little as two or three in the
// text.
inline constexpr int kMaxJsonValues = 200'000;

}  // namespace callslip
