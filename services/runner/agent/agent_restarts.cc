#include "runner/agent/agent_restarts.h"

#include <algorithm>

namespace callslip::runner {
namespace {

bool MayGoBetterNextTime(AgentEnd end) {
  switch (end) {
    case AgentEnd::kCrashed:
    case AgentEnd::kHung:
    case AgentEnd::kProtocolError:
      return true;
    case AgentEnd::kCommandMissing:
    case AgentEnd::kNotExecutable:
    case AgentEnd::kNoDirectory:
    case AgentEnd::kLoginNeeded:
      return false;
  }
  return false;
}

}  // namespace

std::optional<absl::Time> AgentRestarts::After(AgentEnd end, absl::Time now, double chance) {
  if (!MayGoBetterNextTime(end)) return std::nullopt;
  while (!ends_.empty() && ends_.front() <= now - kWindow) ends_.pop_front();
  if (ends_.size() >= kMost) return std::nullopt;
  absl::Duration wait;
  if (!ends_.empty()) wait = absl::Seconds(1 << (ends_.size() - 1));
  ends_.push_back(now);
  constexpr double kSpread = 0.2;
  return now + std::min(wait, kLongest) * (1 - kSpread + 2 * kSpread * chance);
}

}  // namespace callslip::runner
