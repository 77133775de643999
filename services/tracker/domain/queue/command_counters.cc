#include "tracker/domain/queue/command_counters.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"

namespace callslip::tracker {
namespace {

// Earliest time when it could be delivered, or given to a person.
int64_t ReadyNanos(const CommandSnapshot& command) {
  const int64_t registered = command.trace.front().unix_nanos;
  const absl::Time not_before = command.spec->not_before;
  if (not_before == absl::InfinitePast()) return registered;
  return std::max(registered, absl::ToUnixNanos(not_before));
}

// Observes the time from then to its last step, with the trace of the call that created it.
void Observe(const CommandSnapshot& command, LatencyHistogram& latencies) {
  const int64_t at = command.trace.back().unix_nanos;
  latencies.Observe(at - ReadyNanos(command), command.spec->trace, at);
}

size_t EndCodeOf(const CommandSnapshot& command) {
  if (command.error == nullptr) return 0;
  const auto* const code = absl::c_find(kEndCodes, absl::string_view(command.error->code));
  const bool known = code != kEndCodes.end() && code != kEndCodes.begin();
  return known ? static_cast<size_t>(code - kEndCodes.begin()) : kEndCodes.size() - 1;
}

}  // namespace

int64_t CommandStatistics::EndedAs(CommandState state) const {
  const auto& by_code = ended[static_cast<size_t>(state)];
  return std::accumulate(by_code.begin(), by_code.end(), int64_t{0});
}

void CommandStatistics::Add(const CommandStatistics& other) {
  for (size_t state = 0; state < in_state.size(); ++state) {
    in_state[state] += other.in_state[state];
    for (size_t code = 0; code < kEndCodes.size(); ++code) {
      ended[state][code] += other.ended[state][code];
    }
  }
  registered += other.registered;
  redelivered += other.redelivered;
  dispatch.Add(other.dispatch);
  standard.Add(other.standard);
  human.Add(other.human);
  lateness.Add(other.lateness);
  queued += other.queued;
  targets += other.targets;
  longest_queue = std::max(longest_queue, other.longest_queue);
  AddQueued(other.oldest_queued_nanos);
}

void CommandStatistics::AddQueued(int64_t ready_nanos) {
  const bool is_older = oldest_queued_nanos == 0 || ready_nanos < oldest_queued_nanos;
  if (ready_nanos != 0 && is_older) oldest_queued_nanos = ready_nanos;
}

void CommandCounters::Changed(const CommandSnapshot& before, const CommandSnapshot& after) {
  if (before.state == after.state) return;
  --StateCount(before.state);
  ++StateCount(after.state);
  if (after.state == CommandState::kDelivered) {
    if (after.attempt == 1) {
      Observe(after, statistics_.dispatch);
    } else {
      ++statistics_.redelivered;
    }
  }
  if (IsTerminal(after.state)) Ended(after);
}

void CommandCounters::Ended(const CommandSnapshot& command) {
  const size_t code = EndCodeOf(command);
  ++statistics_.ended[static_cast<size_t>(command.state)][code];
  // Its end and its latency were counted before.
  if (kEndCodes[code] == "result_expired") return;
  const bool is_human = command.spec->command_class == CommandClass::kHuman;
  Observe(command, is_human ? statistics_.human : statistics_.standard);
}

}  // namespace callslip::tracker
