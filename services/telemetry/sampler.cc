#include "telemetry/sampler.h"

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace callslip {

std::optional<Sampler> Sampler::Of(absl::string_view name, absl::string_view argument) {
  const bool parent_based = absl::ConsumePrefix(&name, "parentbased_");
  if (name == "always_on") return Sampler(parent_based, kAll);
  if (name == "always_off") return Sampler(parent_based, 0);
  if (name != "traceidratio") return std::nullopt;
  double ratio = 1;
  if (!argument.empty() && !absl::SimpleAtod(argument, &ratio)) return std::nullopt;
  // Written so that NaN is rejected.
  if (!(ratio >= 0 && ratio <= 1)) return std::nullopt;
  return Sampler(parent_based, static_cast<uint64_t>(ratio * static_cast<double>(kAll)));
}

bool Sampler::Samples(const TraceContext& parent, const TraceContext& context) const {
  if (parent_based_ && !parent.empty()) return parent.sampled();
  uint64_t random = 0;
  for (const char byte : context.trace_id().substr(8)) {
    random = random << 8 | static_cast<uint8_t>(byte);
  }
  return random >> 1 < below_;
}

}  // namespace callslip
