#include "model/command_model_shortening.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "model/command_model_driver.h"

namespace callslip::tracker {
namespace {

// `schedule` without some of its operations, and with or without the time that these took.
Schedule Without(const Schedule& schedule, size_t begin, size_t end, bool keep_time) {
  Schedule rest{.setup = schedule.setup};
  int64_t time_ms = 0;
  for (size_t i = 0; i < schedule.ops.size(); ++i) {
    if (i >= begin && i < end) {
      time_ms += schedule.ops[i].advance_ms + 1;
    } else {
      rest.ops.push_back(schedule.ops[i]);
      if (i >= end && keep_time) rest.ops.back().advance_ms += std::exchange(time_ms, 0);
    }
  }
  return rest;
}

// `schedule` with plain waits instead of the steps to deadlines, which depend on the other
// operations.
Schedule WithPlainWaits(const Schedule& schedule, ModelMistake mistake) {
  Schedule plain = schedule;
  ModelDriver driver(plain.setup, mistake);
  for (Op& op : plain.ops) {
    const absl::Time before = driver.now();
    driver.Apply(op);
    if (op.kind != OpKind::kNextDeadline && op.kind != OpKind::kJump) continue;
    op.kind = OpKind::kWait;
    op.advance_ms = absl::ToInt64Milliseconds(driver.now() - before);
  }
  return plain;
}

}  // namespace

std::string KindOf(const std::string& disagreement) {
  std::string kind;
  bool quoted = false;
  for (const char letter : disagreement) {
    if (letter == '"') quoted = !quoted;
    if (!quoted && !absl::ascii_isdigit(static_cast<unsigned char>(letter))) kind += letter;
  }
  return kind;
}

Schedule Shorten(Schedule schedule, ModelMistake mistake) {
  const std::string kind = KindOf(RunSchedule(schedule, mistake));
  const auto disagrees = [&](const Schedule& candidate) {
    const std::string disagreement = RunSchedule(candidate, mistake);
    // The same fault of the table and no other one; or any disagreement because of the mistake.
    if (mistake == ModelMistake::kNone) return KindOf(disagreement) == kind;
    return !disagreement.empty() && RunSchedule(candidate, ModelMistake::kNone).empty();
  };
  const Schedule plain = WithPlainWaits(schedule, mistake);
  if (disagrees(plain)) schedule = plain;
  // A small ring needs few commands to overflow.
  for (const size_t failed : {3, 2, 1}) {
    Schedule candidate = schedule;
    candidate.setup.limits.failed_of_client = failed;
    if (failed < schedule.setup.limits.failed_of_client && disagrees(candidate)) {
      schedule = std::move(candidate);
    }
  }
  size_t chunk = std::max<size_t>(schedule.ops.size() / 2, 1);
  while (true) {
    bool shorter = false;
    for (size_t begin = 0; begin < schedule.ops.size();) {
      const size_t end = std::min(begin + chunk, schedule.ops.size());
      // Either the operations matter, or only the time that they took.
      const Schedule later = Without(schedule, begin, end, /*keep_time=*/true);
      const Schedule sooner = Without(schedule, begin, end, /*keep_time=*/false);
      const bool sooner_disagrees = disagrees(sooner);
      if (sooner_disagrees || disagrees(later)) {
        schedule = sooner_disagrees ? sooner : later;
        shorter = true;
      } else {
        begin = end;
      }
    }
    if (chunk == 1 && !shorter) break;
    chunk = std::max<size_t>(chunk / 2, 1);
  }
  // Plainer operations and fewer limits make it easier to read.
  const auto unlimited = [&](auto limit) {
    Schedule candidate = schedule;
    candidate.setup.limits.*limit = CommandLimits().*limit;
    if (disagrees(candidate)) schedule = std::move(candidate);
  };
  unlimited(&CommandLimits::queued_of_client);
  unlimited(&CommandLimits::queued);
  unlimited(&CommandLimits::failed_of_client);
  unlimited(&CommandLimits::commands);
  unlimited(&CommandLimits::commands_of_client);
  unlimited(&CommandLimits::payload_bytes);
  unlimited(&CommandLimits::payload_bytes_of_client);
  unlimited(&CommandLimits::waits);
  unlimited(&CommandLimits::waits_of_client);
  unlimited(&CommandLimits::filters_of_client);
  unlimited(&CommandLimits::tombstones);
  for (size_t i = 0; i < schedule.ops.size(); ++i) {
    const auto plainer = [&](auto change) {
      Schedule candidate = schedule;
      change(candidate.ops[i]);
      if (disagrees(candidate)) schedule = std::move(candidate);
    };
    plainer([](Op& op) { op.advance_ms = 0; });
    plainer([](Op& op) { op.within_ms = false; });
    plainer([](Op& op) { op.blank = false; });
    plainer([](Op& op) { op.label = 0; });
    plainer([](Op& op) { op.params_bytes = 0; });
    plainer([](Op& op) { op.request_id = 0; });
    plainer([](Op& op) { op.clocks = 0; });
    plainer([](Op& op) { op.priority = 0; });
    plainer([](Op& op) { op.key = 0; });
    plainer([](Op& op) { op.idempotent = false; });
    plainer([](Op& op) { op.with_attempt = false; });
    plainer([](Op& op) { op.context_bytes = 0; });
    plainer([](Op& op) { op.progress = false; });
    plainer([](Op& op) { op.back_within_ms = 0; });
  }
  return schedule;
}

}  // namespace callslip::tracker
