// The watches of ModelDriver, and the updates from their feeds.
#include <algorithm>
#include <utility>

#include "model/command_model_driver.h"

namespace callslip::tracker {

void ModelDriver::DoWatch(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const int64_t present =
      *command < 0 ? 0 : model_.commands()[static_cast<size_t>(*command)].revision;
  ModelWatch watch{.watch_id = op.slot,
                   .feed = op.feed,
                   .client = kClients[static_cast<size_t>(op.client)],
                   .command = *command,
                   .only_end = op.only_end};
  if (op.hold_ms > 0) watch.until = now_ + absl::Milliseconds(op.hold_ms);
  const int64_t after = std::max<int64_t>(0, present + op.after_revision);
  const auto answer =
      table_.Watch(IdOf(*command, op.slot), {.clients = Client(op),
                                             .after_revision = after,
                                             .until = watch.until,
                                             .feed = feeds_[static_cast<size_t>(op.feed)],
                                             .watch_id = op.slot,
                                             .only_end = op.only_end});
  if (answer.ok()) watches_[op.slot] = *answer;
  if (*command < 0) {
    if (answer.ok()) model_.Disagree("a made-up id can be watched");
    return;
  }
  model_.Watch(watch, after, answer.status(), answer.ok() && answer->command != nullptr);
  Settle();
}

void ModelDriver::DoWatchAll(const Op& op) {
  const ModelWatch watch{.watch_id = op.slot,
                         .feed = op.feed,
                         .client = kClients[static_cast<size_t>(op.client)],
                         .filter = FilterOf(op),
                         .only_end = op.only_end};
  const auto answer = table_.WatchAll({.clients = Client(op),
                                       .filter = watch.filter,
                                       .feed = feeds_[static_cast<size_t>(op.feed)],
                                       .watch_id = op.slot,
                                       .only_end = op.only_end});
  if (answer.ok()) watches_[op.slot] = *answer;
  model_.Watch(watch, 0, answer.status(), answer.ok() && answer->filter != nullptr);
  Settle();
}

void ModelDriver::DoUnwatch(const Op& op) {
  const auto watch = watches_.find(op.of);
  if (watch == watches_.end()) return;
  table_.Unwatch(watch->second);
  model_.Unwatch(op.of);
  Settle();
}

void ModelDriver::DoFailWatch(const Op& op) {
  feeds_[static_cast<size_t>(op.feed)]->Fail(op.slot, absl::NotFoundError("gone"));
  model_.FailWatch(op.feed, op.slot, "NOT_FOUND ");
}

void ModelDriver::DoTake(const Op& op) {
  const auto max = static_cast<size_t>(op.max_commands);
  CommandFeed& feed = *feeds_[static_cast<size_t>(op.feed)];
  std::vector<ModelUpdate> taken;
  for (const CommandUpdate& update : feed.Take(max)) {
    ModelUpdate seen{.watch_id = update.watch_id, .last = update.last};
    if (!update.error.ok()) seen.error = OutcomeOf(update.error);
    if (update.command != nullptr) {
      const auto number = numbers_.find(update.command->spec->id);
      if (number == numbers_.end()) return model_.Disagree("an unknown command was told of");
      seen.command = number->second;
      seen.view = ViewOf(*update.command);
      int64_t& told = told_revisions_[{update.watch_id, seen.command}];
      if (update.command->revision <= told) model_.Disagree("a revision was told twice");
      told = update.command->revision;
    }
    taken.push_back(std::move(seen));
    if (!op.is_lost) feed.NoteReceived(update);
  }
  model_.Take(op.feed, max, taken, feed.waiting(), op.is_lost);
}

}  // namespace callslip::tracker
