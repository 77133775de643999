#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/trace_context.h"

namespace callslip {

// The numbers are those of opentelemetry.proto.trace.v1.Span.SpanKind.
enum class SpanKind : uint8_t {
  kInternal = 1,
  kServer = 2,
  kClient = 3,
  kProducer = 4,
  kConsumer = 5,
};

// Keys are literals from OpenTelemetry's semantic conventions 1.45 if these define one, else with
// the prefix `callslip.`.
struct SpanAttribute {
  absl::string_view key;
  std::variant<std::string, int64_t, bool> value;
};

// A completed operation of one of our programs in a trace. Contains ids, codes and values from
// fixed lists; never parameters, results, URLs or tokens.
struct Span {
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  TraceContext context;  // The trace, and the span's own id.
  TraceContext parent;   // Empty if the trace begins with it.
  // By the wall clock, since 1970.
  int64_t start_nanos = 0;
  int64_t end_nanos = 0;
  std::vector<SpanAttribute> attributes;
  std::vector<TraceContext> links;
  bool failed = false;
  // Where the sink keeps it until it is sent; see SpanFile.
  int place = -1;
};

}  // namespace callslip
