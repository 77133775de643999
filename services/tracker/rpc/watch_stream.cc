#include "tracker/rpc/watch_stream.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/errors.h"
#include "tracker/rpc/command_convert.h"

namespace callslip::tracker {
namespace {

// The size of a message unless a single update is larger: far below the size that clients refuse,
// and small enough not to delay later messages.
constexpr size_t kMaxUpdateBytes = size_t{1} << 20;

}  // namespace

void WatchStream::Begin() {
  const auto self = shared_from_this();
  call_->SetSource([self] { return self->Next(); });
  call_->OnCallerLeft([self] { self->EndWatches(); });
  call_->SetReceiver([self](const auto& request) { self->OnRequest(request); },
                     [self] { self->EndAfterWatches(); });
}

void WatchStream::OnRequest(const v1::WatchCommandsRequest& request) {
  if (request.add_size() > kMaxWatchesInMessage || request.remove_size() > kMaxWatchesInMessage) {
    Abort(InvalidField("add or remove",
                       absl::StrCat("has more than ", kMaxWatchesInMessage, " entries")));
    return;
  }
  // The caller adds watches and does not read their updates.
  if (request.add_size() > 0 && waiting() >= kMaxWaitingUpdates) {
    Abort(TooSlow());
    return;
  }
  for (const int64_t watch_id : request.remove()) Remove(watch_id);
  for (const v1::CommandWatch& watch : request.add()) {
    if (const absl::Status status = Add(watch); !status.ok()) {
      Abort(status);
      return;
    }
  }
  FinishIfOver();
}

absl::Status WatchStream::Add(const v1::CommandWatch& watch) {
  int64_t serial = 0;
  {
    MutexLock lock(&mutex_);
    if (over_) return absl::OkStatus();
    serial = next_serial_++;
    if (!serials_.try_emplace(watch.watch_id(), serial).second) {
      return InvalidField("watch_id", absl::StrCat("is in use on this stream: ", watch.watch_id()));
    }
    if (watches_.size() >= kMaxWatchesOfStream) {
      return TooManyWaits(kMaxWatchesOfStream, /*of_client=*/true);
    }
    watches_[serial] = {.watch_id = watch.watch_id(), .by_filter = watch.has_filter()};
  }
  absl::StatusOr<CommandTable::Watching> watching = BeginWatch(watch, serial);
  if (!watching.ok()) {
    Fail(serial, watching.status());
    return absl::OkStatus();
  }
  {
    MutexLock lock(&mutex_);
    const auto it = watches_.find(serial);
    if (it != watches_.end() && !over_) {
      it->second.watching = *std::move(watching);
      return absl::OkStatus();
    }
  }
  // The watch is over already, and its end was sent; or the caller has left.
  table_->Unwatch(*watching);
  return absl::OkStatus();
}

absl::StatusOr<CommandTable::Watching> WatchStream::BeginWatch(const v1::CommandWatch& watch,
                                                               int64_t serial) {
  ASSIGN_OR_RETURN(CallContext caller, caller_.OnBehalfOf(watch.client_id()));
  switch (watch.what_case()) {
    case v1::CommandWatch::kFilter: {
      ASSIGN_OR_RETURN(CommandFilter filter, FilterFrom(watch.filter()));
      if (watch.has_max_wait() || watch.after_revision() != 0) {
        return InvalidField("max_wait and after_revision", "do not apply to filters");
      }
      ASSIGN_OR_RETURN(ClientScope clients, caller.ScopeOf(watch.owner()));
      std::string watcher = OnBehalfOf({.name = caller.client_id, .role = caller.role});
      if (watcher == clients.client_id()) watcher.clear();
      return table_->WatchAll({.clients = std::move(clients),
                               .filter = std::move(filter),
                               .feed = shared_from_this(),
                               .watch_id = serial,
                               .only_end = watch.only_end(),
                               .only_changes = watch.only_changes(),
                               .removals = watch.removals(),
                               .watcher = std::move(watcher)});
    }
    case v1::CommandWatch::kCommandId: {
      if (watch.only_changes() || watch.removals()) {
        return InvalidField("only_changes and removals", "apply to filters only");
      }
      ASSIGN_OR_RETURN(const absl::Time until, WaitUntil(watch.max_wait(), kMaxScheduleToClose,
                                                         absl::InfiniteDuration(), clock_->Now()));
      if (!watch.owner().empty()) {
        // The id selects the command; the owner only permits it to be another client's.
        ASSIGN_OR_RETURN(const ClientScope owner, caller.ScopeOf(watch.owner()));
        if (!owner.Covers(caller.client_id) || owner.is_all()) caller.scope = ClientScope::All();
      }
      return FindOwnThenVisible(caller, [&](const ClientScope& clients) {
        return table_->Watch(watch.command_id(), {.clients = clients,
                                                  .after_revision = watch.after_revision(),
                                                  .until = until,
                                                  .feed = shared_from_this(),
                                                  .watch_id = serial,
                                                  .only_end = watch.only_end()});
      });
    }
    case v1::CommandWatch::WHAT_NOT_SET: break;
  }
  return InvalidField("what", "is required: a command_id or a filter");
}

void WatchStream::Remove(int64_t watch_id) {
  CommandTable::Watching watching;
  {
    MutexLock lock(&mutex_);
    const auto serial = serials_.find(watch_id);
    if (serial == serials_.end()) return;
    watching = std::move(watches_[serial->second].watching);
    watches_.erase(serial->second);
    serials_.erase(serial);
  }
  table_->Unwatch(watching);
}

void WatchStream::Abort(const absl::Status& error) {
  call_->Finish(error);
  EndWatches();
}

void WatchStream::EndWatches() {
  absl::flat_hash_map<int64_t, Watch> watches;
  {
    MutexLock lock(&mutex_);
    over_ = true;
    watches = std::move(watches_);
    watches_.clear();
  }
  for (const auto& [serial, watch] : watches) table_->Unwatch(watch.watching);
}

void WatchStream::EndAfterWatches() {
  {
    MutexLock lock(&mutex_);
    end_after_watches_ = true;
  }
  FinishIfOver();
}

void WatchStream::FinishIfOver() {
  {
    MutexLock lock(&mutex_);
    if (!end_after_watches_ || !watches_.empty()) return;
  }
  // Updates in the feed are still sent.
  call_->Finish(absl::OkStatus());
}

std::optional<Outgoing<v1::WatchCommandsResponse>> WatchStream::Next() {
  Outgoing<v1::WatchCommandsResponse> next;
  std::vector<CommandUpdate> ends;
  size_t bytes = 0;
  bool over = false;
  while (next.message.updates_size() < kMaxWatchesInMessage && bytes < kMaxUpdateBytes) {
    // One at a time, because taken updates keep their payloads in memory until they are sent.
    std::optional<CommandUpdate> update = TakeOne();
    if (!update.has_value()) break;
    const std::optional<CommandView> view = Resolve(*update);
    if (!view.has_value()) continue;
    v1::CommandUpdate& message = *next.message.add_updates();
    Fill(*update, *view, message);
    // Tells the caller to continue at the next tracker, instead of taking this for the end of its
    // wait.
    const bool is_over = update->last && update->command == nullptr && update->error.ok();
    if (is_over && table_->draining()) message.set_draining(true);
    bytes += message.ByteSizeLong();
    over = over || update->last;
    if (update->last && update->command != nullptr) ends.push_back(*std::move(update));
  }
  if (!ends.empty()) {
    next.if_sent = [self = shared_from_this(), ends = std::move(ends)] {
      for (const CommandUpdate& end : ends) self->NoteReceived(end);
    };
  }
  if (over) FinishIfOver();
  if (next.message.updates_size() == 0) return std::nullopt;
  return next;
}

std::optional<CommandView> WatchStream::Resolve(CommandUpdate& update) {
  MutexLock lock(&mutex_);
  const auto it = watches_.find(update.watch_id);
  if (it == watches_.end()) return std::nullopt;
  const bool by_filter = it->second.by_filter;
  update.watch_id = it->second.watch_id;
  if (update.last) {
    serials_.erase(update.watch_id);
    watches_.erase(it);
  }
  return by_filter ? CommandView::kWithoutPayloads : CommandView::kWithoutParams;
}

}  // namespace callslip::tracker
