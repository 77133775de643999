#include "runner/agent/agent_restarts.h"

namespace callslip::runner {
namespace {

bool MayGoBetterNextTime(AgentEnd end) {
  switch (end) {
    case AgentEnd::kCrashed:
    case AgentEnd::kHung:
    case AgentEnd::kProtocolError: return true;
    case AgentEnd::kCommandMissing:
    case AgentEnd::kNotExecutable:
    case AgentEnd::kDirectoryUnusable:
    case AgentEnd::kRefused:
    case AgentEnd::kOtherVersion:
    case AgentEnd::kLoginNeeded:
    case AgentEnd::kContextLost: return false;
  }
  return false;
}

}  // namespace

std::optional<absl::Time> AgentRestarts::After(AgentEnd end, absl::Time now, double chance) {
  if (!MayGoBetterNextTime(end)) return std::nullopt;
  if (ends_ >= kMaxRestarts) return std::nullopt;
  absl::Duration wait;
  if (ends_ > 0) wait = absl::Seconds(1 << (ends_ - 1));
  ++ends_;
  last_ = now;
  constexpr double kSpread = 0.2;
  return now + wait * (1 - kSpread + 2 * kSpread * chance);
}

}  // namespace callslip::runner
