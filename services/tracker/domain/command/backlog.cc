#include "tracker/domain/command/backlog.h"

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

CommandEntry* Backlog::Next() {
  for (BacklogTurn& turn : turns_) {
    for (CommandEntry& entry : turn.commands) {
      const absl::string_view key = entry.spec().ordering_key();
      if (key.empty() || !busy_keys_.contains(key)) return &entry;
    }
  }
  return nullptr;
}

void Backlog::OccupyKey(absl::string_view key) {
  if (!key.empty()) ++busy_keys_[key];
}

void Backlog::FreeKey(absl::string_view key) {
  if (key.empty()) return;
  const auto it = busy_keys_.find(key);
  if (--it->second == 0) busy_keys_.erase(it);
}

void Backlog::Admit(CommandEntry* entry) {
  ++depth_;
  entry->turn = &clients_[entry->spec().client_id()];
  ++entry->turn->depth;
}

void Backlog::Dismiss(CommandEntry* entry) {
  --depth_;
  BacklogTurn* turn = std::exchange(entry->turn, nullptr);
  if (--turn->depth > 0 || clients_.size() <= kKeptClients) return;
  clients_.erase(entry->spec().client_id());
}

int64_t Backlog::DepthOf(absl::string_view client_id) const {
  const auto it = clients_.find(client_id);
  return it == clients_.end() ? 0 : it->second.depth;
}

}  // namespace callslip::tracker
