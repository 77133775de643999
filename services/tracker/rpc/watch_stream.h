#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/rpc/command_convert.h"
#include "tracker/server/call_context.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// One WatchCommands call: all its watches share one feed, from which each message takes as many
// waiting updates as fit. A watch costs an entry in the map here and one in the table.
//
// Lives until the call is over: held by the call, and by the table while a watch continues.
class WatchStream final : public CommandFeed, public std::enable_shared_from_this<WatchStream> {
 public:
  using Call = DuplexStream<v1::WatchCommandsRequest, v1::WatchCommandsResponse>;

  WatchStream(Clock* clock, CommandTable* table, CallContext caller, std::shared_ptr<Call> call)
      : clock_(clock), table_(table), caller_(std::move(caller)), call_(std::move(call)) {}

  void Begin();
  // Ends the call once all its watches have ended and all updates have been sent.
  void EndAfterWatches();

  void OnReady() override { call_->Wake(); }

 private:
  void OnRequest(const v1::WatchCommandsRequest& request);
  void Abort(const absl::Status& error);
  // Removes all watches when the call is over, or its caller has left.
  void EndWatches();

  // INVALID_ARGUMENT ends the call.
  absl::Status Add(const v1::CommandWatch& watch);
  absl::StatusOr<CommandTable::Watching> BeginWatch(const v1::CommandWatch& watch, int64_t serial);
  void Remove(int64_t watch_id);

  // The source of the call.
  std::optional<Outgoing<v1::WatchCommandsResponse>> Next();
  // The view of the update's command to send; nullopt if its watch was removed meanwhile. Sets the
  // caller's watch id in the update, and removes the watch if it is over.
  std::optional<CommandView> Resolve(CommandUpdate& update);
  void FinishIfOver();

  Clock* const clock_;
  CommandTable* const table_;
  const CallContext caller_;
  const std::shared_ptr<Call> call_;

  struct Watch {
    int64_t watch_id = 0;
    CommandTable::Watching watching;
    bool by_filter = false;
  };

  Mutex mutex_;
  // By the serial numbers that the feed uses. The caller can reuse an id while updates of its
  // earlier watch still wait in the feed.
  absl::flat_hash_map<int64_t, Watch> watches_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int64_t, int64_t> serials_ ABSL_GUARDED_BY(mutex_);  // By the caller's ids.
  int64_t next_serial_ ABSL_GUARDED_BY(mutex_) = 1;
  bool end_after_watches_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace callslip::tracker
