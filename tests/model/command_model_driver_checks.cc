// The checks of ModelDriver: after each call, and at the end.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/command_model_driver.h"

namespace callslip::tracker {

void ModelDriver::Finish() {
  // Ends half of the calls and watches, and all watches of a filter: these never end themselves.
  for (auto& [slot, call] : calls_) {
    if (failed() || call.handle == nullptr || slot % 2 == 0) continue;
    const bool abandoned = table_.Abandon(call.handle, now_);
    if (abandoned) call.abandoned = true;
    model_.Abandon(slot, now_, abandoned);
  }
  for (const auto& [slot, watch] : watches_) {
    if (failed()) return;
    if (slot % 2 == 0 && watch.filter == nullptr) continue;
    table_.Unwatch(watch);
    model_.Unwatch(slot);
  }
  // Delays and clocks take up to a day each; retention comes after the end.
  const absl::Time end = now_ + absl::Hours(49);
  while (!failed() && model_.NextDeadline() < end) MoveTo(model_.NextDeadline());
  for (auto& [slot, call] : calls_) {
    if (failed() || call.handle == nullptr) continue;
    const bool abandoned = table_.Abandon(call.handle, now_);
    if (abandoned) call.abandoned = true;
    model_.Abandon(slot, now_, abandoned);
  }
  MoveTo(end);
  if (failed()) return;
  Settle();
  if (table_.commands() != 0 || table_.payload_bytes() != 0 || table_.leased() != 0 ||
      table_.waits() != 0) {
    model_.Disagree(absl::StrCat("in the end ", table_.commands(), " commands, ",
                                 table_.payload_bytes(), " bytes, ", table_.leased(),
                                 " leases and ", table_.waits(), " waits are left"));
  }
  table_.FireDeadlines(end);
  if (table_.NextDeadlineTime() != absl::InfiniteFuture()) {
    model_.Disagree("in the end a deadline is left");
  }
  for (const ModelCommand& command : model_.commands()) {
    if (!command.ended()) model_.Disagree(absl::StrCat("#", command.number, " never ended"));
  }
  for (int feed = 0; feed < kFeeds; ++feed) {
    if (!failed()) DoTake({.feed = feed, .max_commands = 1'000'000});
  }
}

void ModelDriver::Settle() {
  model_.Settle(now_, TakeAnswers());
  Check();
}

void ModelDriver::Check() {
  if (failed()) return;
  for (const int command : model_.TakeChanged()) CheckCommand(command);
  if (++checks_ % 16 == 0) {
    for (int command = 0; command < static_cast<int>(known_.size()); ++command) {
      CheckCommand(command);
    }
  }
  CheckCounts();
}

void ModelDriver::CheckCommand(int command) {
  if (failed()) return;
  const ModelCommand& expected = model_.commands()[static_cast<size_t>(command)];
  Known& known = known_[static_cast<size_t>(command)];
  const std::string name = absl::StrCat("command #", command, " of slot ", known.slot);
  const auto answer = table_.Get(expected.client(), known.id.ToString(), /*peek=*/true);
  const std::string outcome = OutcomeOf(answer.status());
  if (outcome != model_.OutcomeOfReading(command)) {
    return model_.Disagree(absl::StrCat(name, " answers ", OutcomeOf(answer.status()),
                                        " instead of ", model_.OutcomeOfReading(command)));
  }
  const std::string stranger = expected.client() == "ann" ? "bob" : "ann";
  if (OutcomeOf(table_.Get(stranger, known.id.ToString(), true).status()) !=
      "NOT_FOUND unknown_command") {
    return model_.Disagree(absl::StrCat(name, " is known to ", stranger));
  }
  if (!answer.ok()) {
    if (outcome == "NOT_FOUND command_removed" &&
        !absl::StrContains(answer.status().message(), CommandStateName(expected.view.state))) {
      model_.Disagree(absl::StrCat(name, " was removed as ", CommandStateName(expected.view.state),
                                   ", but answers ", OutcomeOf(answer.status())));
    }
    return;
  }
  const CommandView view = ViewOf(**answer);
  model_.CheckView(command, view, (*answer)->revision);
  if (known.read) {
    const bool changed = !DifferenceOf(known.view, view).empty();
    if (IsTerminal(known.view.state) && view.state != known.view.state &&
        !(known.view.state == CommandState::kCompleted && view.state == CommandState::kExpired &&
          view.error_code == "result_expired")) {
      model_.Disagree(absl::StrCat(name, " left its end"));
    }
    if ((*answer)->revision < known.revision ||
        (changed && (*answer)->revision == known.revision)) {
      model_.Disagree(absl::StrCat(name, " changed and kept its revision"));
    }
    if (!changed && (*answer)->revision != known.revision) {
      model_.Disagree(absl::StrCat(name, " has a new revision and did not change"));
    }
  }
  if (!expected.request.idempotent) {
    const auto received = absl::c_count_if(
        expected.deliveries, [](const ModelDelivery& delivery) { return !delivery.given_back; });
    if (received > 1) model_.Disagree(absl::StrCat(name, " was delivered twice"));
  }
  known.view = view;
  known.revision = (*answer)->revision;
  known.read = true;
}

void ModelDriver::CheckCounts() {
  if (failed()) return;
  const auto compare = [&](const char* what, int64_t actual, int64_t expected) {
    if (actual != expected) {
      model_.Disagree(absl::StrCat(what, " is ", actual, " instead of ", expected));
    }
  };
  compare("commands()", table_.commands(), model_.CountCommands(nullptr));
  compare("payload_bytes()", table_.payload_bytes(), model_.CountBytes(nullptr));
  compare("leased()", table_.leased(), model_.leased());
  compare("waits()", table_.waits(), model_.waits());
  compare("late_results()", table_.late_results(), model_.late_results());
  if (asked_for_no_leases_ && told_of_no_leases_ != (model_.leased() == 0)) {
    model_.Disagree(told_of_no_leases_ ? "told of no leases while there are some"
                                       : "not told that no leases are left");
  }
  if (told_of_no_leases_) asked_for_no_leases_ = false;
  for (size_t i = 0; i < feeds_.size(); ++i) {
    compare("OnReady()", feeds_[i]->ready_calls(), model_.feeds()[i].ready_calls);
  }
  if (std::min(armed_, table_.NextDeadlineTime()) > model_.NextDeadline()) {
    model_.Disagree("NextDeadlineTime() is after the next deadline");
  }
  if (armed_ > model_.NextDeadline()) {
    model_.Disagree("the deadline listener was not told of the next deadline");
  }
}

std::string ModelDriver::Read(int command) {
  const ModelCommand& known = model_.commands()[static_cast<size_t>(command)];
  return OutcomeOf(
      table_.Get(known.client(), known_[static_cast<size_t>(command)].id.ToString(), true)
          .status());
}

}  // namespace callslip::tracker
