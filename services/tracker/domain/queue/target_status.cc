#include "tracker/domain/queue/target_status.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace callslip::tracker {
namespace {

// Targets that need attention compare as less.
auto Order(const TargetStatus& target) {
  const bool has_worker = target.load.queued == 0 || target.workers.connected > 0;
  return std::tuple(has_worker, target.load.oldest_ready, -target.load.queued,
                    absl::string_view(target.load.target));
}

}  // namespace

std::vector<TargetStatus> JoinTargets(std::vector<TargetLoad> loads,
                                      const std::map<std::string, WorkerCounts>& workers,
                                      absl::string_view part) {
  std::map<std::string, TargetStatus> by_name;
  for (TargetLoad& load : loads) {
    TargetStatus& status = by_name[load.target];
    status.load = std::move(load);
  }
  for (const auto& [target, counts] : workers) {
    TargetStatus& status = by_name[target];
    status.load.target = target;
    status.workers = counts;
  }
  const std::string wanted = absl::AsciiStrToLower(part);
  std::vector<TargetStatus> targets;
  for (auto& [name, status] : by_name) {
    if (absl::StrContains(absl::AsciiStrToLower(name), wanted))
      targets.push_back(std::move(status));
  }
  std::sort(targets.begin(), targets.end(),
            [](const TargetStatus& a, const TargetStatus& b) { return Order(a) < Order(b); });
  return targets;
}

}  // namespace callslip::tracker
