#include "tracker/domain/queue/client_account.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

// Filters show no payloads, because updates that wait for a slow reader must not keep them in
// memory. Short parameters are not worth a copy.
CommandPtr Shown(const CommandPtr& command) {
  constexpr size_t kShort = 1024;
  const CommandSpec& spec = *command->spec;
  const bool is_long = spec.params != nullptr && spec.params->size() > kShort;
  if (!is_long && command->result == nullptr && command->late_result == nullptr) return command;
  auto shown = std::make_shared<CommandSnapshot>(*command);
  if (is_long) shown->spec = spec.WithoutParams();
  shown->result = nullptr;
  shown->late_result = nullptr;
  return shown;
}

}  // namespace

bool CommandFilter::Matches(const CommandSnapshot& command) const {
  return (states.empty() || absl::c_linear_search(states, command.state)) &&
         (target.empty() || target == command.spec->target()) &&
         (label.empty() || label == command.spec->label());
}

std::optional<CommandId> ClientAccount::KeepEnded(CommandId id, bool cancelled, size_t capacity) {
  MutexLock lock(&mutex_);
  std::deque<CommandId>& ring = cancelled ? cancelled_ : failed_;
  ring.push_back(id);
  if (ring.size() <= capacity) return std::nullopt;
  const CommandId oldest = ring.front();
  ring.pop_front();
  return oldest;
}

absl::Status ClientAccount::AddFilter(std::shared_ptr<const FilterWatch> watch,
                                      const CommandLimits& limits,
                                      std::vector<std::shared_ptr<CommandFeed>>& ready) {
  MutexLock lock(&mutex_);
  int64_t of_watcher = 0;
  int64_t of_others = 0;
  for (const auto& held : filters_) {
    if (held->watcher == watch->watcher) ++of_watcher;
    if (!held->watcher.empty()) ++of_others;
  }
  if (of_watcher >= limits.filters_of_client) return TooManyFilters(limits.filters_of_client);
  if (!watch->watcher.empty() && of_others >= limits.filters_of_others) {
    return TooManyFilters(limits.filters_of_others);
  }
  if (watch->only_changes && watch->feed->Push({.watch_id = watch->watch_id})) {
    ready.push_back(watch->feed);
  }
  filters_.push_back(std::move(watch));
  ++filter_count_;
  return absl::OkStatus();
}

bool ClientAccount::RemoveFilter(const FilterWatch* watch) {
  MutexLock lock(&mutex_);
  const auto it = absl::c_find_if(filters_, [&](const auto& held) { return held.get() == watch; });
  if (it == filters_.end()) return false;
  filters_.erase(it);
  --filter_count_;
  return true;
}

void ClientAccount::PushToFilters(const CommandPtr& command,
                                  std::vector<std::shared_ptr<CommandFeed>>& ready, bool removed) {
  if (!has_filters()) return;
  MutexLock lock(&mutex_);
  CommandPtr shown;
  for (auto it = filters_.begin(); it != filters_.end();) {
    const FilterWatch& watch = **it;
    if (Push(watch, command, removed, shown, ready)) {
      ++it;
      continue;
    }
    // Its reader may have taken everything just now.
    if (watch.feed->GiveUp(watch.watch_id, TooSlow())) ready.push_back(watch.feed);
    it = filters_.erase(it);
    --filter_count_;
  }
}

bool ClientAccount::PushToFilter(const FilterWatch& watch, const CommandPtr& command,
                                 std::vector<std::shared_ptr<CommandFeed>>& ready) {
  MutexLock lock(&mutex_);
  const bool there =
      absl::c_any_of(filters_, [&](const auto& held) { return held.get() == &watch; });
  CommandPtr shown;
  return !there || Push(watch, command, /*removed=*/false, shown, ready);
}

void ClientAccount::EndFilters(std::vector<std::shared_ptr<CommandFeed>>& ready) {
  MutexLock lock(&mutex_);
  for (const auto& watch : filters_) {
    if (watch->feed->Push({watch->watch_id, nullptr, absl::OkStatus(), true})) {
      ready.push_back(watch->feed);
    }
  }
  filters_.clear();
  filter_count_ = 0;
}

bool ClientAccount::Push(const FilterWatch& watch, const CommandPtr& command, bool removed,
                         CommandPtr& shown, std::vector<std::shared_ptr<CommandFeed>>& ready) {
  if (removed && !watch.removals) return true;
  if (!watch.filter.Matches(*command)) return true;
  if (watch.only_end && !IsTerminal(command->state)) return true;
  if (!watch.feed->HasRoom(*watch.room, watch.room_limit)) return false;
  if (shown == nullptr) shown = Shown(command);
  CommandUpdate update{watch.watch_id, shown};
  update.removed = removed;
  if (watch.feed->PushShown(std::move(update), watch.room)) {
    ready.push_back(watch.feed);
  }
  return true;
}

std::shared_ptr<ClientAccount> ClientAccounts::Of(absl::string_view client_id) {
  MutexLock lock(&mutex_);
  if (const auto it = accounts_.find(client_id); it != accounts_.end()) return it->second;
  pruning_.BeforeAdding(accounts_, [](const auto& account) { return account.use_count() == 1; });
  auto account = std::make_shared<ClientAccount>(std::string(client_id), feed_bytes_);
  accounts_.emplace(account->client_id(), account);
  return account;
}

std::vector<std::shared_ptr<ClientAccount>> ClientAccounts::All() {
  MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<ClientAccount>> all = {of_all_};
  for (const auto& [client_id, account] : accounts_) all.push_back(account);
  return all;
}

}  // namespace callslip::tracker
