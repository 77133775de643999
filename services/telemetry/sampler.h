#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "common/trace_context.h"

namespace callslip {

// Decides which traces are recorded: one of the six samplers that OTEL_TRACES_SAMPLER can name.
// Immutable.
class Sampler {
 public:
  // `parentbased_always_on`, the default.
  Sampler() = default;

  // Nullopt if `name` is not one of the six, or `argument` is invalid for the sampler. Ratio
  // samplers take an argument from 0 to 1, and 1 if it is empty.
  static std::optional<Sampler> Of(absl::string_view name, absl::string_view argument);

  // See SpanSink::Samples().
  bool Samples(const TraceContext& parent, const TraceContext& context) const;

 private:
  Sampler(bool parent_based, uint64_t below) : parent_based_(parent_based), below_(below) {}

  // Trace ids end with 63 random bits. As OpenTelemetry's SDK for Go does, we record the traces
  // whose bits are below a bound, so that all programs with the same ratio record the same traces.
  static constexpr uint64_t kAll = uint64_t{1} << 63;

  bool parent_based_ = true;
  uint64_t below_ = kAll;
};

}  // namespace callslip
