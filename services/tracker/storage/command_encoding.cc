#include "tracker/storage/command_encoding.h"

#include <array>
#include <cstring>

namespace callslip::tracker {
namespace {

void AppendInt(int64_t value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

int64_t TakeInt(absl::string_view& bytes) {
  int64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
  return value;
}

constexpr size_t kTraceEntryBytes = sizeof(int64_t) + 2;

template <typename Overrides>
auto ClocksIn(Overrides& overrides) {
  return std::array{&overrides.schedule_to_start, &overrides.ack_wait,
                    &overrides.heartbeat_timeout, &overrides.start_to_close,
                    &overrides.schedule_to_close, &overrides.result_retention};
}

}  // namespace

void EncodeTrace(const CommandSnapshot& command, std::string& bytes) {
  bytes.clear();
  for (const TraceEntry& entry : command.trace) {
    AppendInt(entry.unix_nanos, bytes);
    bytes.push_back(static_cast<char>(entry.stage));
    bytes.push_back(static_cast<char>(entry.source));
  }
}

bool DecodeTrace(absl::string_view bytes, CommandSnapshot& command) {
  if (bytes.empty() || bytes.size() % kTraceEntryBytes != 0) return false;
  while (!bytes.empty()) {
    TraceEntry entry{.unix_nanos = TakeInt(bytes),
                     .stage = static_cast<TraceEntry::Stage>(bytes[0]),
                     .source = static_cast<TraceEntry::Source>(bytes[1])};
    if (entry.stage > TraceEntry::Stage::kLateResult) return false;
    if (entry.source > TraceEntry::Source::kTracker) return false;
    command.trace.push_back(entry);
    bytes.remove_prefix(2);
  }
  return true;
}

std::string EncodeOverrides(const DeadlineOverrides& overrides) {
  std::string bytes;
  if (overrides == DeadlineOverrides()) return bytes;
  for (const auto* clock : ClocksIn(overrides)) {
    AppendInt(clock->has_value() ? absl::ToInt64Nanoseconds(**clock) : -1, bytes);
  }
  return bytes;
}

bool DecodeOverrides(absl::string_view bytes, DeadlineOverrides& overrides) {
  if (bytes.empty()) return true;
  const auto clocks = ClocksIn(overrides);
  if (bytes.size() != clocks.size() * sizeof(int64_t)) return false;
  for (auto* clock : clocks) {
    const int64_t nanos = TakeInt(bytes);
    if (nanos >= 0) *clock = absl::Nanoseconds(nanos);
  }
  return true;
}

std::optional<CommandState> StateFrom(absl::string_view name) {
  for (int i = 0; i < kCommandStateCount; ++i) {
    const auto state = static_cast<CommandState>(i);
    if (CommandStateName(state) == name) return state;
  }
  return std::nullopt;
}

bool IsSensible(const CommandSnapshot& command, const CommandRecord& record) {
  const bool held = IsHeld(command.state) && command.spec->command_class == CommandClass::kStandard;
  const bool has_worker = !record.worker.empty() && !record.leases.empty();
  const bool has_error = IsTerminal(command.state) && command.state != CommandState::kCompleted;
  return (has_worker || !(held || record.end_unreported)) &&
         (command.error != nullptr || !has_error);
}

}  // namespace callslip::tracker
