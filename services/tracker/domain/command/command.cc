#include "tracker/domain/command/command.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace callslip::tracker {
namespace {

absl::Time TimeOf(int64_t unix_nanos) {
  return unix_nanos == CommandSnapshot::kNotYet ? absl::InfinitePast()
                                                : absl::FromUnixNanos(unix_nanos);
}

}  // namespace

CommandSpec::CommandSpec(CommandId command_id, const CommandRequest& request, absl::Time now,
                         uint64_t number, std::shared_ptr<const CommandDeadlines> clocks)
    : id(command_id),
      params(request.params),
      deadlines(std::move(clocks)),
      register_time(now),
      not_before(request.not_before > now ? request.not_before : absl::InfinitePast()),
      sequence(number),
      priority(static_cast<int8_t>(request.priority)),
      command_class(request.command_class),
      idempotent(request.idempotent),
      trace(request.trace) {
  size_t end = 0;
  for (size_t i = 0; i < kNames; ++i) {
    end += (request.*kCommandNames[i].member).size();
    ends_[i] = static_cast<uint16_t>(end);
  }
  names_.resize(end);
  char* to = names_.data();
  for (const CommandName& name : kCommandNames) to = absl::c_copy(request.*name.member, to);
}

bool CommandSpec::IsFor(const CommandRequest& request) const {
  // A not_before in the past was not stored; comparing it would refuse a legitimate repeat.
  const bool same_time = not_before == request.not_before || (not_before == absl::InfinitePast() &&
                                                              request.not_before <= register_time);
  for (size_t i = 0; i < kNames; ++i) {
    const CommandName& name = kCommandNames[i];
    if (name.of_repeat && NameAt(i) != request.*name.member) return false;
  }
  return *params == *request.params && command_class == request.command_class &&
         idempotent == request.idempotent && priority == request.priority && same_time &&
         request.deadlines == deadlines->overrides;
}

CommandRequest CommandSpec::ToRequest() const {
  CommandRequest request;
  for (size_t i = 0; i < kNames; ++i) {
    const CommandName& name = kCommandNames[i];
    if (name.of_work) request.*name.member = std::string(NameAt(i));
  }
  request.params = params;
  request.command_class = command_class;
  request.idempotent = idempotent;
  request.priority = priority;
  request.deadlines = deadlines->overrides;
  return request;
}

CommandRequest CommandSpec::Request() const {
  CommandRequest request = ToRequest();
  for (size_t i = 0; i < kNames; ++i) request.*kCommandNames[i].member = std::string(NameAt(i));
  request.not_before = not_before;
  request.trace = trace;
  return request;
}

std::shared_ptr<const CommandSpec> CommandSpec::WithoutParams() const {
  CommandRequest request = Request();
  request.params = nullptr;
  return std::make_shared<const CommandSpec>(id, request, register_time, sequence, deadlines);
}

std::shared_ptr<const CommandSpec> CommandSpec::Earlier(absl::Duration by) const {
  CommandRequest request = Request();
  request.not_before = not_before - by;
  auto earlier =
      std::make_shared<const CommandSpec>(id, request, register_time - by, sequence, deadlines);
  if (is_read()) earlier->MarkRead();
  return earlier;
}

int64_t CommandSnapshot::FirstNanos(TraceEntry::Stage stage) const {
  for (const TraceEntry& entry : trace) {
    if (entry.stage == stage) return entry.unix_nanos;
  }
  return kNotYet;
}

int64_t CommandSnapshot::LastNanos(TraceEntry::Stage stage) const {
  for (auto entry = trace.rbegin(); entry != trace.rend(); ++entry) {
    if (entry->stage == stage) return entry->unix_nanos;
  }
  return kNotYet;
}

std::optional<CommandSnapshot::Stretch> CommandSnapshot::WorkNanos() const {
  const int64_t sent = LastNanos(TraceEntry::Stage::kSent);
  const int64_t ended = LastNanos(TraceEntry::Stage::kResolved);
  if (work.micros == 0 || sent == kNotYet || ended < sent) return std::nullopt;
  constexpr int64_t kNanosOfMicro = 1000;
  const int64_t end = std::max(sent, ended - kNanosOfMicro * work.age_micros);
  return Stretch{.begin = std::max(sent, end - kNanosOfMicro * work.micros), .end = end};
}

absl::Time CommandSnapshot::deliver_time() const {
  return TimeOf(LastNanos(TraceEntry::Stage::kSent));
}

absl::Time CommandSnapshot::start_time() const {
  return TimeOf(FirstNanos(TraceEntry::Stage::kStarted));
}

absl::Time CommandSnapshot::end_time() const {
  return TimeOf(FirstNanos(TraceEntry::Stage::kResolved));
}

}  // namespace callslip::tracker
