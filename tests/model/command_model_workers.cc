// The workers' side of CommandModel: leases, reports, and the turns of clients.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/command_model.h"

namespace callslip::tracker {
namespace {

// An ambiguous point of the contract, and what the table does there: CommandTable::late_results()
// counts errors and time-outs, too.
constexpr bool kEveryLateReportCounts = true;

}  // namespace

void CommandModel::Lease(const ModelCall& call, absl::Time now, const absl::Status& status,
                         bool goes_on, const std::vector<ObservedAnswer>& answers) {
  BeginStep();
  std::vector<std::string> outcomes;
  if (call.max_commands < 0 || call.max_commands > kWorkerWindow || call.window < 0 ||
      call.window > kWorkerWindow || !Fits(call.worker) || !Fits(call.target) ||
      call.back_within < absl::ZeroDuration() || call.back_within > kMaxBackWithin) {
    outcomes = {"INVALID_ARGUMENT invalid_argument"};
  } else if (draining_) {
    outcomes = {"UNAVAILABLE draining"};
  } else {
    outcomes = {"ok"};
  }
  ModelCall held = call;
  if (held.without_proof) without_proof_.insert(held.worker);
  if (held.max_commands == 0) held.max_commands = kWorkerWindow;
  if (held.window == 0) held.window = kWorkerWindow;
  const bool would_wait = call.hold_until > now;
  if (outcomes.front() == "ok" && would_wait && waits() >= limits_.waits) {
    // The contract does not say whether a call that need not be held is refused, too.
    const bool may_be_told = absl::c_any_of(unreported_, [&](const UnreportedEnd& end) {
      return end.target == held.target && end.worker == held.worker;
    });
    if (may_be_told || HasNews(held)) {
      outcomes.push_back("RESOURCE_EXHAUSTED too_many_waits");
    } else {
      outcomes = {"RESOURCE_EXHAUSTED too_many_waits"};
    }
  }
  if (!Expect(status, outcomes)) return;
  if (!status.ok()) {
    Settle(now, answers);
    return;
  }
  AbsenceOf(held).back_by = absl::InfinitePast();
  calls_.push_back(held);
  Settle(now, answers);
  const bool still_held =
      absl::c_any_of(calls_, [&](const ModelCall& other) { return other.slot == call.slot; });
  if (still_held != goes_on) Disagree("the call's handle does not say whether it is held");
}

void CommandModel::Abandon(int slot, absl::Time now, bool abandoned) {
  BeginStep();
  const auto held = absl::c_find_if(calls_, [&](const auto& call) { return call.slot == slot; });
  const bool was_held = held != calls_.end();
  if (was_held) EndCall(*held, now);
  if (abandoned != was_held) {
    Disagree(abandoned ? "a call was abandoned that had been answered"
                       : "a held call could not be abandoned");
  }
}

CommandModel::Absence& CommandModel::AbsenceOf(const ModelCall& call) {
  for (Absence& absence : absences_) {
    if (absence.target == call.target && absence.worker == call.worker) return absence;
  }
  return absences_.emplace_back(Absence{call.target, call.worker, absl::InfinitePast()});
}

void CommandModel::EndCall(const ModelCall& call, absl::Time now) {
  Absence& absence = AbsenceOf(call);
  absence.back_by = std::max(absence.back_by, now + call.back_within);
  std::erase_if(calls_, [slot = call.slot](const ModelCall& other) { return other.slot == slot; });
}

void CommandModel::GiveBack(int command, int delivery) {
  BeginStep();
  ModelCommand& known = At(command);
  ModelDelivery& undone = known.deliveries[static_cast<size_t>(delivery)];
  if (known.removed || known.view.state != CommandState::kDelivered || undone.given_back ||
      delivery + 1 != static_cast<int>(known.deliveries.size())) {
    return;
  }
  undone.given_back = true;
  Reach("event a lease is given back");
  known.view.state = CommandState::kQueued;
  --known.view.attempt;
  known.view.trace = undone.trace_before;
  known.view.deliver_time = undone.deliver_time_before;
  // Its clock is the same as at its registration.
  known.start_by = known.ready_time + known.clocks.schedule_to_start;
  if (known.view.attempt == 0) known.late = absl::ZeroDuration();
  known.worker.clear();
  for (const ModelDelivery& earlier : known.deliveries) {
    if (!earlier.given_back) known.worker = earlier.worker;
  }

  // Its client has used its turn all the same.
  UpdateTurn(known);
  Change(known);
}

bool CommandModel::Proves(const ModelCommand& command, const ModelProof& proof) const {
  return command.human() || DeliveryOf(command, proof) >= 0;
}

int CommandModel::DeliveryOf(const ModelCommand& command, const ModelProof& proof) {
  // Without a token the proof is for the newest delivery that needs none.
  for (int i = static_cast<int>(command.deliveries.size()); i-- > 0;) {
    const ModelDelivery& delivery = command.deliveries[static_cast<size_t>(i)];
    const bool meant = proof.token == ModelProof::Token::kOfDelivery
                           ? i == proof.delivery
                           : proof.token == ModelProof::Token::kNone && delivery.without_proof;
    const bool fits = proof.attempt == 0 || proof.attempt == delivery.attempt;
    if (meant && fits && !delivery.given_back) return i;
  }
  return -1;
}

void CommandModel::Acknowledge(int command, const ModelProof& proof,
                               const std::optional<std::string>& progress,
                               const std::string& context, absl::Time now,
                               const absl::Status& status, std::optional<CommandState> state,
                               bool cancel_requested) {
  BeginStep();
  if (context.size() > kMaxContextBytes) {
    Expect(status, {"INVALID_ARGUMENT invalid_argument"});
    return;
  }
  if (command < 0 || (At(command).removed && !At(command).tombstone)) {
    Expect(status, {"NOT_FOUND unknown_command"});
    return;
  }
  ModelCommand& known = At(command);
  // A tombstone knows how the command ended, and no leases.
  if (!known.removed && !Proves(known, proof)) {
    Expect(status, {"PERMISSION_DENIED wrong_lease"});
    return;
  }
  if (!Expect(status, {"ok"})) return;
  if (!known.ended()) {
    const bool started = known.view.state != CommandState::kRunning;
    if (known.view.state == CommandState::kQueued && !known.human()) {
      Reach("event an ended lease is acknowledged");
    }
    const bool changed = started || progress.has_value() || !context.empty();
    known.view.state = CommandState::kRunning;
    known.last_heartbeat = now;
    if (progress.has_value()) known.view.progress = *progress;
    if (!context.empty()) known.view.context = context;
    if (started) {
      known.view.start_time = now;
      AddTrace(known.view, "started/worker");
      UpdateTurn(known);
    }
    if (changed) Change(known);
  }
  if (state != known.view.state) {
    Disagree(absl::StrCat("the worker is told ", CommandStateName(*state), " instead of ",
                          CommandStateName(known.view.state)));
  }
  if (cancel_requested != (known.view.state == CommandState::kCancelled)) {
    Disagree("cancel_requested does not tell whether the command was cancelled");
  }
}

void CommandModel::Complete(int command, const ModelProof& proof, const CommandOutcome& outcome,
                            const std::string& context, absl::Time now, const absl::Status& status,
                            std::optional<CommandState> state, bool accepted) {
  BeginStep();
  const auto* result = std::get_if<CommandResult>(&outcome);
  if (context.size() > kMaxContextBytes) {
    Expect(status, {"INVALID_ARGUMENT invalid_argument"});
    return;
  }
  if (result != nullptr && BytesOf(result->value).size() > kMaxResultBytes) {
    Expect(status, {"INVALID_ARGUMENT result_too_large"});
    return;
  }
  if (command < 0 || (At(command).removed && !At(command).tombstone)) {
    Expect(status, {"NOT_FOUND unknown_command"});
    return;
  }
  ModelCommand& known = At(command);
  // A tombstone knows how the command ended, and no leases.
  if (!known.removed && !Proves(known, proof)) {
    Expect(status, {"PERMISSION_DENIED wrong_lease"});
    return;
  }
  if (!Expect(status, {"ok"})) return;
  if (accepted == known.ended()) {
    Disagree(accepted ? "a report about an ended command was accepted"
                      : "a report was not accepted though the command had not ended");
    return;
  }
  const int reporter = DeliveryOf(known, proof);
  if (proof.token == ModelProof::Token::kOfDelivery) {
    if (known.deliveries[static_cast<size_t>(proof.delivery)].worker != known.worker &&
        !known.ended()) {
      Reach("event a result of an earlier worker is accepted");
    }
  }
  if (known.ended()) {
    if (result != nullptr && known.view.state != CommandState::kCompleted && !known.removed &&
        !known.has_late_result && BytesFit(known, BytesOf(result->value).size())) {
      known.has_late_result = true;
      Reach("event a late result is kept");
      known.view.late_result = BytesOf(result->value);
      AddTrace(known.view, "late_result/worker");
      Change(known);
    }
    if (result != nullptr || kEveryLateReportCounts) ++late_results_;
  } else {
    const bool fits = result == nullptr || BytesFit(known, BytesOf(result->value).size());
    if (!context.empty()) known.view.context = context;
    if (known.view.state == CommandState::kQueued && !known.human()) {
      Reach("event a queued command is completed");
    }
    if (result != nullptr) {
      if (!fits) {
        End(known, CommandState::kFailed,
            CommandError{.code = "result_dropped", .may_have_executed = true}, "worker", now,
            reporter);
      } else {
        known.view.result = BytesOf(result->value);
        End(known, CommandState::kCompleted, std::nullopt, "worker", now, reporter);
      }
    } else {
      const auto* failure = std::get_if<CommandFailure>(&outcome);
      CommandError error = failure ? failure->error : std::get<CommandTimeout>(outcome).error;
      if (error.code.empty()) error.code = "execution_failed";
      if (failure == nullptr) {
        error.code = "execution_timeout";
        error.may_have_executed = true;
      }
      End(known, failure ? CommandState::kFailed : CommandState::kTimedOut, std::move(error),
          "worker", now, reporter);
    }
  }
  if (state != known.view.state) {
    Disagree(absl::StrCat("the worker is told ", CommandStateName(*state), " instead of ",
                          CommandStateName(known.view.state)));
  }
}

// Turns.

CommandModel::Turn& CommandModel::TurnOf(const ModelCommand& command) {
  for (Turn& turn : turns_) {
    if (turn.target == command.target() && turn.client == command.client()) return turn;
  }
  return turns_.emplace_back(Turn{.target = command.target(), .client = command.client()});
}

void CommandModel::UpdateTurn(const ModelCommand& command) {
  Turn& turn = TurnOf(command);
  const bool waiting = absl::c_any_of(commands_, [&](const ModelCommand& other) {
    return other.queued() && other.released && other.target() == command.target() &&
           other.client() == command.client();
  });
  if (waiting && !turn.waiting) turn.since = any_order_ ? any_order_from_ : ++turn_;
  turn.waiting = waiting;
}

bool CommandModel::MayBeDelivered(const ModelCommand& command) const {
  if (!command.queued() || !command.released) return false;
  const std::string& key = command.request.ordering_key;
  if (key.empty() || mistake_ == ModelMistake::kIgnoresOrderingKeys) return true;
  return absl::c_none_of(commands_, [&](const ModelCommand& other) {
    // A command that went back to the queue has not ended, and its worker may be at work.
    return other.number != command.number && !other.removed && !other.ended() && !other.human() &&
           other.target() == command.target() && other.request.ordering_key == key &&
           other.view.attempt > 0;
  });
}

std::vector<int> CommandModel::NextDeliveries(const std::string& target) const {
  std::vector<int> next;
  uint64_t longest = 0;
  for (const Turn& turn : turns_) {
    if (turn.target != target) continue;
    const ModelCommand* first = nullptr;
    for (const ModelCommand& command : commands_) {
      if (command.target() != target || command.client() != turn.client) continue;
      if (!MayBeDelivered(command)) continue;
      if (any_order_) next.push_back(command.number);
      if (first == nullptr || (command.request.priority > first->request.priority &&
                               mistake_ != ModelMistake::kIgnoresPriorities)) {
        first = &command;
      }
    }
    if (first == nullptr || any_order_) continue;
    const uint64_t since = mistake_ == ModelMistake::kIgnoresTurns ? first->number : turn.since;
    if (next.empty() || since < longest) {
      next = {first->number};
      longest = since;
    } else if (since == longest) {
      next.push_back(first->number);
    }
  }
  return next;
}

// Answers to workers.

int CommandModel::Room(const ModelCall& call) const {
  int room = call.window + (mistake_ == ModelMistake::kWindowOfSix ? 1 : 0);
  for (const ModelCommand& command : commands_) {
    if (command.held() && command.target() == call.target && command.worker == call.worker) --room;
  }
  return std::max(room, 0);
}

bool CommandModel::HasNews(const ModelCall& call) const {
  if (absl::c_any_of(unreported_, [&](const UnreportedEnd& end) {
        return end.must_be_told && end.target == call.target && end.worker == call.worker;
      })) {
    return true;
  }
  return Room(call) > 0 && !NextDeliveries(call.target).empty();
}

void CommandModel::Settle(absl::Time now, const std::vector<ObservedAnswer>& answers) {
  for (const ObservedAnswer& answer : answers) {
    SettleAnswer(answer, now);
    if (!disagreement_.empty()) return;
  }
  for (const ModelCall& call : calls_) {
    if (draining_ || call.hold_until <= now) {
      Disagree(absl::StrCat("the call of slot ", call.slot, " is still held after its time"));
    }
    if (HasNews(call)) {
      Disagree(absl::StrCat("the call of slot ", call.slot, " is held though there are news for \"",
                            call.worker, "\""));
    }
  }
  if (any_order_) {
    for (Turn& turn : turns_) {
      if (turn.since >= any_order_from_) turn.since = any_order_from_;
    }
  }
  any_order_ = false;
  std::erase_if(unreported_, [&](const UnreportedEnd& end) { return At(end.command).removed; });
}

void CommandModel::SettleAnswer(const ObservedAnswer& answer, absl::Time now) {
  const auto held =
      absl::c_find_if(calls_, [&](const ModelCall& call) { return call.slot == answer.call; });
  const std::string name = absl::StrCat("the call of slot ", answer.call);
  if (held == calls_.end()) return Disagree(absl::StrCat(name, " was answered, but is not held"));
  const ModelCall call = *held;
  if (call.hold_until > now && !answer.leases.empty()) Reach("event a held call is given work");
  if (!answer.ended.empty()) Reach("event a worker is told of an end");
  if (answer.leases.empty() && answer.ended.empty()) {
    if (!draining_ && call.hold_until > now)
      Disagree(absl::StrCat(name, " was answered for nothing"));
    if (HasNews(call)) Disagree(absl::StrCat(name, " was not told its news"));
  }
  if (static_cast<int>(answer.leases.size()) > call.max_commands) {
    Disagree(absl::StrCat(name, " was given more than ", call.max_commands, " commands"));
  }
  SettleEnded(call, answer.ended);
  for (const ObservedAnswer::Lease& lease : answer.leases) {
    SettleLease(call, lease, now);
    if (!disagreement_.empty()) return;
  }
  if (!any_order_ && static_cast<int>(answer.leases.size()) < call.max_commands &&
      !(answer.leases.empty() && answer.ended.empty()) && HasNews(call)) {
    Disagree(absl::StrCat(name, " was given less than it could have been"));
  }
  EndCall(call, now);
}

void CommandModel::SettleLease(const ModelCall& call, const ObservedAnswer::Lease& lease,
                               absl::Time now) {
  const std::string name = absl::StrCat("the lease of #", lease.command, " to \"", call.worker,
                                        "\" of slot ", call.slot);
  if (Room(call) == 0) return Disagree(absl::StrCat(name, " goes beyond its window"));
  const std::vector<int> next = NextDeliveries(call.target);
  if (!absl::c_linear_search(next, lease.command)) {
    return Disagree(
        absl::StrCat(name, " is not its turn, but that of \"", absl::StrJoin(next, " or "), "\""));
  }
  ModelCommand& command = At(lease.command);
  Deliver(command, call.worker, now);
  const std::string difference = DifferenceOf(command.view, lease.view);
  if (!difference.empty()) Disagree(absl::StrCat(name, ": ", difference));
  const absl::Duration left = std::min(command.clocks.start_to_close, CloseTime(command) - now);
  if (lease.start_to_close != left) {
    Disagree(absl::StrCat(name, " may take ", absl::FormatDuration(lease.start_to_close),
                          " instead of ", absl::FormatDuration(left)));
  }
}

void CommandModel::SettleEnded(const ModelCall& call, const std::vector<int>& ended) {
  for (const int command : ended) {
    const size_t before = unreported_.size();
    std::erase_if(unreported_, [&](const UnreportedEnd& end) {
      return end.command == command && end.target == call.target && end.worker == call.worker;
    });
    if (unreported_.size() == before) {
      Disagree(absl::StrCat("the call of slot ", call.slot, " tells ", call.worker,
                            " of the end of #", command, ", which is no news"));
    }
  }
}

}  // namespace callslip::tracker
