#include "tracker/domain/queue/backlog.h"

#include <utility>

namespace callslip::tracker {
namespace {

bool GoesBefore(const CommandSpec& a, const CommandSpec& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  return a.sequence < b.sequence;
}

}  // namespace

void Backlog::Add(CommandEntry* entry) {
  BacklogTurn& turn = *entry->turn;
  if (turn.commands.empty()) turns_.push_back(turn);
  // From the back, where nearly all of them belong.
  auto place = turn.commands.end();
  while (place != turn.commands.begin()) {
    auto before = std::prev(place);
    if (!GoesBefore(entry->spec(), before->spec())) break;
    place = before;
  }
  turn.commands.insert(place, *entry);
}

void Backlog::Remove(CommandEntry* entry) {
  if (!entry->queue_hook.is_linked()) return;
  BacklogTurn& turn = *entry->turn;
  turn.commands.erase(turn.commands.iterator_to(*entry));
  if (turn.commands.empty()) turns_.erase(turns_.iterator_to(turn));
}

void Backlog::Take(CommandEntry* entry) {
  BacklogTurn& turn = *entry->turn;
  turn.commands.erase(turn.commands.iterator_to(*entry));
  turns_.erase(turns_.iterator_to(turn));
  if (!turn.commands.empty()) turns_.push_back(turn);
}

CommandEntry* Backlog::NextOf(BacklogTurn& turn) {
  for (CommandEntry& entry : turn.commands) {
    const absl::string_view key = entry.spec().ordering_key();
    if (key.empty() || entry.holds_key || !busy_keys_.contains(key)) return &entry;
  }
  return nullptr;
}

CommandEntry* Backlog::Next(const ClientScope& clients) {
  if (!clients.is_all()) {
    const auto turn = clients_.find(clients.client_id());
    return turn == clients_.end() ? nullptr : NextOf(turn->second);
  }
  for (BacklogTurn& turn : turns_) {
    if (CommandEntry* entry = NextOf(turn); entry != nullptr) return entry;
  }
  return nullptr;
}

void Backlog::SetHoldsKey(CommandEntry* entry, bool holds) {
  const absl::string_view key = entry->spec().ordering_key();
  if (key.empty() || entry->holds_key == holds) return;
  entry->holds_key = holds;
  if (holds) {
    busy_keys_.insert(std::string(key));
  } else {
    busy_keys_.erase(key);
  }
}

BacklogTurn* Backlog::TurnOf(absl::string_view client_id) {
  if (const auto it = clients_.find(client_id); it != clients_.end()) return &it->second;
  pruning_.BeforeAdding(clients_, [](const BacklogTurn& turn) { return turn.depth == 0; });
  return &clients_.try_emplace(client_id).first->second;
}

void Backlog::Admit(CommandEntry* entry, BacklogTurn* turn) {
  ++depth_;
  entry->turn = turn;
  ++turn->depth;
}

void Backlog::Dismiss(CommandEntry* entry) {
  --depth_;
  --std::exchange(entry->turn, nullptr)->depth;
}

void Backlog::AddTo(const ClientScope& clients, TargetLoad& load) const {
  for (const auto& [client, turn] : clients_) {
    if (!clients.Covers(client)) continue;
    load.queued += turn.depth;
    for (const CommandEntry& entry : turn.commands) {
      load.oldest_ready = std::min(load.oldest_ready, entry.spec().ready_time());
    }
  }
}

}  // namespace callslip::tracker
