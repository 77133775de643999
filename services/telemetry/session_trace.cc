#include "telemetry/session_trace.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "telemetry/span_sink.h"

namespace callslip {
namespace {

// 64-bit FNV-1a.
uint64_t Hash(absl::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

// Samplers treat the bits of a trace id as random: the final step of SplitMix64 mixes them
// accordingly.
uint64_t Mixed(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

}  // namespace

uint64_t StableSpanId(absl::string_view text) {
  const uint64_t hash = Hash(text);
  return hash == 0 ? 1 : hash;
}

TraceContext TraceOfSession(absl::string_view session_id, absl::Time created) {
  const SpanSink* sink = Spans();
  if (sink == nullptr) return {};
  const std::string name = absl::StrCat(session_id, " ", absl::ToUnixSeconds(created), " ");
  const auto hex = [&](absl::string_view part) {
    return absl::Hex(Mixed(Hash(absl::StrCat(name, part))) | 1, absl::kZeroPad16);
  };
  const std::optional<TraceContext> context = TraceContext::Parse(
      absl::StrCat("00-", hex("high"), hex("trace"), "-", hex("session"), "-00"));
  return context->WithSampled(sink->Samples(TraceContext(), *context));
}

}  // namespace callslip
