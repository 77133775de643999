// The deadlines of CommandModel.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "model/command_model.h"

namespace callslip::tracker {
namespace {

constexpr absl::Time kNever = absl::InfiniteFuture();

// The first whole millisecond that is not before `time`, which is when deadlines fire.
absl::Time WholeMillisecond(absl::Time time) {
  if (time == kNever) return kNever;
  const absl::Time down = absl::FromUnixMillis(absl::ToUnixMillis(time));
  return down < time ? down + absl::Milliseconds(1) : down;
}

}  // namespace

CommandModel::Due CommandModel::NextDue(const ModelCommand& command) const {
  Due due = NextClock(command);
  due.at = WholeMillisecond(due.at);
  return due;
}

CommandModel::Due CommandModel::NextClock(const ModelCommand& command) const {
  if (command.removed) {
    return {Clock::kRetention,
            command.tombstone ? command.remove_time + clocks_.tombstone_retention : kNever};
  }
  if (command.ended()) {
    return {Clock::kRetention, command.view.state == CommandState::kCompleted
                                   ? command.view.end_time + command.clocks.result_retention
                                   : command.kept_since + clocks_.failed_retention};
  }
  Due next = {Clock::kClose, CloseTime(command)};
  // Of clocks that run out together, the more specific one fires.
  const auto also = [&](Clock clock, absl::Time at) {
    if (at <= next.at) next = {clock, at};
  };
  if (command.human()) return next;
  const CommandDeadlines& clocks = command.clocks;
  // Nothing else ends a command that waits for its first delivery.
  if (command.view.state == CommandState::kQueued && command.released &&
      command.view.attempt == 0) {
    return {Clock::kStart, command.start_by};
  }
  switch (command.view.state) {
    case CommandState::kQueued:
      if (!command.released) also(Clock::kNotBefore, command.ready_time);
      break;
    case CommandState::kDelivered:
      also(Clock::kExecution, command.view.deliver_time + clocks.start_to_close + clocks.backstop);
      also(Clock::kAck, command.view.deliver_time + clocks.ack_wait);
      break;
    default:
      also(Clock::kExecution, command.view.deliver_time + clocks.start_to_close + clocks.backstop);
      also(Clock::kHeartbeat, command.last_heartbeat + clocks.heartbeat_timeout);
  }
  return next;
}

absl::Time CommandModel::NextDeadline() const {
  absl::Time next = kNever;
  for (const ModelCommand& command : commands_) next = std::min(next, NextDue(command).at);
  for (const ModelCall& call : calls_) next = std::min(next, WholeMillisecond(call.hold_until));
  for (const ModelWatch& watch : watches_) next = std::min(next, WholeMillisecond(watch.until));
  return next;
}

int CommandModel::CountDue(absl::Time time) const {
  int due = 0;
  for (const ModelCommand& command : commands_) due += NextDue(command).at <= time ? 1 : 0;
  for (const ModelCall& call : calls_) due += WholeMillisecond(call.hold_until) <= time ? 1 : 0;
  for (const ModelWatch& watch : watches_) due += WholeMillisecond(watch.until) <= time ? 1 : 0;
  return due;
}

void CommandModel::Fire(absl::Time now) {
  BeginStep();
  any_order_from_ = ++turn_;
  any_order_ = CountDue(now) > 1;
  if (any_order_) Reach("event several deadlines at once");
  for (size_t i = watches_.size(); i-- > 0;) {
    if (WholeMillisecond(watches_[i].until) > now) continue;
    Push(watches_[i].feed, {.watch_id = watches_[i].watch_id, .last = true});
    EndWatch(watches_[i].watch_id);
  }
  for (size_t i = 0; i < commands_.size(); ++i) {
    for (Due due = NextDue(commands_[i]); due.at <= now; due = NextDue(commands_[i])) {
      FireCommand(commands_[i], due.clock, now);
    }
  }
}

absl::Time CommandModel::CloseTime(const ModelCommand& command) const {
  return command.ready_time + command.schedule_to_close + command.late;
}

bool CommandModel::WaitsForWorker(ModelCommand& command, absl::Time now) {
  if (draining_ || mistake_ == ModelMistake::kExpectsNobodyBack) return false;
  absl::Time back_by = absl::InfinitePast();
  for (const Absence& absence : absences_) {
    const bool held = absl::c_any_of(calls_, [&](const ModelCall& call) {
      return call.target == absence.target && call.worker == absence.worker;
    });
    if (absence.target == command.target() && !held) back_by = std::max(back_by, absence.back_by);
  }
  const absl::Duration longest =
      command.clocks.schedule_to_close.value_or(command.clocks.schedule_to_start + kMaxBackWithin);
  const absl::Time until = std::min(back_by, command.ready_time + longest);
  if (until <= now) return false;
  Reach("event a command waits for a suspended worker");
  command.start_by = until;
  return true;
}

void CommandModel::FireCommand(ModelCommand& command, Clock clock, absl::Time now) {
  const auto end = [&](CommandState state, const char* code, bool executed) {
    End(command, state, CommandError{.code = code, .may_have_executed = executed}, "tracker", now,
        -1);
  };
  const bool may_have_executed = command.may_have_executed();
  switch (clock) {
    case Clock::kNotBefore: command.released = true; return UpdateTurn(command);
    case Clock::kStart:
      if (WaitsForWorker(command, now)) return;
      return end(CommandState::kExpired, "never_delivered", may_have_executed);
    case Clock::kAck:
      if (command.request.idempotent && command.view.attempt < kMaxAttempts &&
          mistake_ != ModelMistake::kNeverRedelivers) {
        return Return(command);
      }
      return end(CommandState::kExpired, "extension_no_response", true);
    case Clock::kHeartbeat: return end(CommandState::kFailed, "worker_lost", true);
    case Clock::kExecution: return end(CommandState::kTimedOut, "execution_timeout", true);
    case Clock::kClose:
      return end(CommandState::kExpired,
                 command.human() ? "user_did_not_finish" : "schedule_to_close", may_have_executed);
    case Clock::kRetention: break;
  }
  if (command.removed) {
    Reach("event a tombstone is forgotten in time");
    command.tombstone = false;
    changed_.insert(command.number);
  } else if (command.view.state == CommandState::kCompleted && !command.collected) {
    command.view.state = CommandState::kExpired;
    command.view.result.clear();
    command.view.error_code = "result_expired";
    AddTrace(command.view, "resolved/tracker");
    Reach("end expired result_expired");
    command.view.may_have_executed = true;
    Change(command);
    EnterFailedRing(command, now);
  } else {
    Remove(command, now);
  }
}

void CommandModel::Drain() {
  BeginStep();
  draining_ = true;
  for (const ModelWatch& watch : watches_) {
    Push(watch.feed, {.watch_id = watch.watch_id, .last = true});
  }
  watches_.clear();
}

// If there are too many, the table restores the newest ones, whatever their client, and then those
// that fit. The model only checks that they are within the limit.
void CommandModel::TakeRestoredTombstones(absl::Time now) {
  std::map<int, size_t> removed;
  for (const ModelCommand& command : commands_) removed[command.partition] += command.removed;
  std::map<int, size_t> kept;
  for (ModelCommand& command : commands_) {
    const bool may_be_there =
        command.removed && now < command.remove_time + clocks_.tombstone_retention;
    if (!may_be_there || removed[command.partition] <= limits_.tombstones) continue;
    command.tombstone = reader_(command.number) == "NOT_FOUND command_removed";
    kept[command.partition] += command.tombstone;
  }
  for (const auto& [partition, count] : kept) {
    if (count > limits_.tombstones) Disagree("more tombstones are restored than the limit says");
  }
}

void CommandModel::Restart(absl::Time now) {
  BeginStep();
  Reach("event the table is made anew");
  if (!calls_.empty() || !watches_.empty()) Disagree("a call or a watch goes on over a restart");
  draining_ = false;
  late_results_ = 0;
  absences_.clear();
  TakeRestoredTombstones(now);
  for (ModelCommand& command : commands_) {
    // Its worker could not reach the tracker.
    if (command.view.state == CommandState::kRunning) command.last_heartbeat = now;
    // A restarted tracker expects no suspended worker.
    command.start_by = command.ready_time + command.clocks.schedule_to_start;
  }
  // The client with the oldest command comes first.
  for (Turn& turn : turns_) turn.waiting = false;
  for (const ModelCommand& command : commands_) {
    if (command.queued() && command.released) UpdateTurn(command);
  }
}

}  // namespace callslip::tracker
