// The workers' side of ModelDriver: leases, reports with their proofs, and draining.
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/command_model_driver.h"

namespace callslip::tracker {
namespace {

const Payload& HugeResult() {
  static const auto* const result =
      new Payload(std::make_shared<const std::string>(kMaxResultBytes + 1, ' '));
  return *result;
}

}  // namespace

void ModelDriver::DoLease(const Op& op) {
  const absl::Time until =
      op.hold_ms < 0 ? absl::InfiniteFuture() : now_ + absl::Milliseconds(op.hold_ms);
  LeaseRequest request{
      .target = Target(op),
      .worker_id = op.blank && op.worker == 0 ? "" : kWorkers[static_cast<size_t>(op.worker)],
      .max_commands = op.max_commands,
      .window = op.window,
      .hold_until = until,
      .back_within = absl::Milliseconds(op.back_within_ms),
      .proofs = op.worker % 2 == 1 ? LeaseProofs::kOptional : LeaseProofs::kRequired};
  if (op.flaw == 1) request.worker_id = std::string(kMaxNameBytes + 1, 'w');
  if (op.flaw == 2) request.target = std::string(kMaxNameBytes + 1, 't');
  Call& call = calls_[op.slot];
  const auto callback = [this, slot = op.slot](WorkerNews news) {
    Call& answered = calls_[slot];
    if (++answered.answers > 1) model_.Disagree("a call was answered twice");
    if (answered.abandoned) model_.Disagree("an abandoned call was answered");
    news_.emplace_back(slot, std::move(news));
  };
  auto answer = table_.Lease(request, now_, callback);
  if (answer.ok()) call.handle = *answer;
  const ModelCall held{.slot = op.slot,
                       .target = request.target.empty() ? "browser" : request.target,
                       .worker = request.worker_id.empty() ? "default" : request.worker_id,
                       .max_commands = op.max_commands,
                       .window = op.window,
                       .hold_until = until,
                       .back_within = request.back_within,
                       .without_proof = request.proofs == LeaseProofs::kOptional};
  model_.Lease(held, now_, answer.status(), answer.ok() && *answer != nullptr, TakeAnswers());
  Check();
}

void ModelDriver::DoAbandon(const Op& op) {
  const auto call = calls_.find(op.of);
  if (call == calls_.end() || call->second.handle == nullptr) return;
  const bool abandoned = table_.Abandon(call->second.handle, now_);
  if (abandoned) call->second.abandoned = true;
  model_.Abandon(op.of, now_, abandoned);
  Settle();
}

void ModelDriver::DoGiveBack(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value() || *command < 0) return;
  const Known& known = known_[static_cast<size_t>(*command)];
  if (op.delivery < 0 || op.delivery >= static_cast<int>(known.leases.size())) return;
  const CommandLease lease = known.leases[static_cast<size_t>(op.delivery)];
  table_.GiveBack(lease, now_);
  model_.GiveBack(*command, op.delivery);
  Settle();
}

void ModelDriver::DoAcknowledge(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const std::optional<Quoted> quoted = Quote(op, *command);
  if (!quoted.has_value()) return;
  std::optional<CommandProgress> progress;
  std::optional<std::string> expected_progress;
  if (op.progress) {
    // Different each time, and sometimes too long.
    std::string message = absl::StrCat("step ", op.slot);
    if (op.slot % 4 == 0) message.append(kMaxProgressBytes, '.');
    progress = CommandProgress{.fraction = 0.25, .message = message};
    expected_progress = absl::StrCat(0.25, " ", message.substr(0, kMaxProgressBytes));
  }
  const Payload context = JsonOf(static_cast<size_t>(op.context_bytes), op.slot);
  const auto answer =
      table_.Acknowledge(IdOf(*command, op.slot), quoted->proof, progress, context, now_);
  model_.Acknowledge(*command, quoted->model, expected_progress, context ? *context : "", now_,
                     answer.status(), answer.ok() ? std::optional(answer->state) : std::nullopt,
                     answer.ok() && answer->cancel_requested);
  Settle();
}

void ModelDriver::DoComplete(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const std::optional<Quoted> quoted = Quote(op, *command);
  if (!quoted.has_value()) return;
  CommandError error{.message = "It failed.", .hint = "", .may_have_executed = op.slot % 2 == 0};
  if (op.slot % 3 == 1) error.code = "no_such_element";
  if (op.slot % 3 == 2) {
    error.code = std::string(kMaxErrorCodeBytes + 1, 'c');
    error.message = std::string(kMaxErrorMessageBytes + 1, 'm');
    error.hint = std::string(kMaxHintBytes + 1, 'h');
  }
  const Payload result = JsonOf(static_cast<size_t>(op.bytes), op.slot);
  CommandOutcome outcome =
      CommandResult{result != nullptr ? result : std::make_shared<const std::string>()};
  if (op.outcome == Outcome::kHugeResult) outcome = CommandResult{HugeResult()};
  if (op.outcome == Outcome::kError) outcome = CommandFailure{error};
  if (op.outcome == Outcome::kTimeout) outcome = CommandTimeout{error};
  const Payload context = JsonOf(static_cast<size_t>(op.context_bytes), op.slot);
  const auto answer =
      table_.Complete(IdOf(*command, op.slot), quoted->proof, outcome, context, now_);
  model_.Complete(*command, quoted->model, outcome, context ? *context : "", now_, answer.status(),
                  answer.ok() ? std::optional(answer->state) : std::nullopt,
                  answer.ok() && answer->accepted);
  Settle();
}

void ModelDriver::DoDrain() {
  table_.Drain();
  model_.Drain();
  Settle();
}

void ModelDriver::DoOnNoLeases(const Op& op) {
  asked_for_no_leases_ = !op.peek;
  told_of_no_leases_ = false;
  table_.OnNoLeases(op.peek ? std::function<void()>() : [this] {
    if (!asked_for_no_leases_ || told_of_no_leases_) model_.Disagree("told of no leases unasked");
    told_of_no_leases_ = true;
  });
  Settle();
}

std::optional<ModelDriver::Quoted> ModelDriver::Quote(const Op& op, int command) {
  Quoted quoted;
  if (command < 0) {
    quoted.proof.token = LeaseToken::New();
    quoted.model.token = ModelProof::Token::kForged;
    return quoted;
  }
  const Known& known = known_[static_cast<size_t>(command)];
  const int present = model_.commands()[static_cast<size_t>(command)].view.attempt;
  const int deliveries = static_cast<int>(known.leases.size());
  switch (op.proof) {
    case Proof::kNone: quoted.model.attempt = op.with_attempt ? present : 0; break;
    case Proof::kForged:
      quoted.model.token = ModelProof::Token::kForged;
      quoted.proof.token = LeaseToken::New();
      break;
    case Proof::kOtherCommand:
      quoted.model.token = ModelProof::Token::kForged;
      for (const Known& other : known_) {
        if (&other == &known || other.leases.empty()) continue;
        quoted.proof.token = other.leases.back().token;
      }
      if (!quoted.proof.token.has_value()) return std::nullopt;
      break;
    default: {
      const int index = op.proof == Proof::kOfDelivery ? op.delivery : deliveries - 1;
      if (index < 0 || index >= deliveries) return std::nullopt;
      quoted.model.token = ModelProof::Token::kOfDelivery;
      quoted.model.delivery = index;
      quoted.proof.token = known.leases[static_cast<size_t>(index)].token;
      const int attempt = known.leases[static_cast<size_t>(index)].command->attempt;
      if (op.with_attempt) quoted.model.attempt = attempt;
      if (op.proof == Proof::kWrongAttempt) quoted.model.attempt = attempt + 1;
    }
  }
  quoted.proof.attempt = quoted.model.attempt;
  return quoted;
}

std::vector<ObservedAnswer> ModelDriver::TakeAnswers() {
  std::vector<ObservedAnswer> answers;
  for (const auto& [slot, news] : std::exchange(news_, {})) {
    ObservedAnswer& answer = answers.emplace_back(ObservedAnswer{.call = slot});
    for (const CommandLease& lease : news.leases) {
      const auto number = numbers_.find(lease.command->spec->id);
      if (number == numbers_.end()) {
        model_.Disagree("an unknown command was leased");
        continue;
      }
      known_[static_cast<size_t>(number->second)].leases.push_back(lease);
      answer.leases.push_back({.command = number->second,
                               .view = ViewOf(*lease.command),
                               .start_to_close = lease.start_to_close});
    }
    for (const auto& [id, token] : news.ended) {
      const auto number = numbers_.find(id);
      answer.ended.push_back(number == numbers_.end() ? -1 : number->second);
    }
  }
  return answers;
}

}  // namespace callslip::tracker
