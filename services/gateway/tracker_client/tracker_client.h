#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "callslip/tracker/v1/command.pb.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "common/address.h"
#include "common/latency_histogram.h"
#include "common/tls_files.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// The state of the connection to the tracker.
struct TrackerClientStatistics {
  bool connected = false;
  int64_t waits = 0;  // In progress.
  LatencyHistogram waited;
};

// A stream of changes of commands. Destruction also ends it at the tracker.
class CommandFeed {
 public:
  virtual ~CommandFeed() = default;

  // The updates since the last call, once there are any: never empty, up to 10,000. Each has the
  // command as it was when it changed or was removed, without params and result. If only changes
  // are watched, the first update has no command: it reports that changes are delivered from then
  // on. One call at a time. Waits for the tracker without a limit.
  //
  // An error is the end of the feed: the tracker's errors; RESOURCE_EXHAUSTED, reason `too_slow`,
  // if changes arrive faster than they are read; UNAVAILABLE without a reason if some may have been
  // missed because the connection was lost. List the commands, then watch again.
  virtual boost::asio::awaitable<absl::StatusOr<std::vector<v1::CommandUpdate>>> Next() = 0;
};

// The gateway's connection to the tracker's commands: its calls, waits and feeds.
//
// A wait continues until its time is over, however often the connection or the tracker ends
// meanwhile. A wait whose coroutine is canceled is also freed at the tracker.
//
// Responses are dispatched from the queue's thread to the executor of the coroutines. All waits
// share one WatchCommands stream per 25,000 of them, which is opened with the first one and
// reopened when it breaks: a wait costs memory but no stream of its own.
class TrackerClient : public TrackerCalls {
 public:
  // GetCommand. Counts as collecting the result, unless `peek`.
  Result<v1::Command> Get(std::string client_id, std::string command_id, bool peek);

  // The command once it has ended, or its state after `max_wait`; at once if that is zero. A
  // returned result counts as collected.
  virtual Result<v1::Command> WaitForEnd(std::string client_id, std::string command_id,
                                         absl::Duration max_wait) = 0;
  // WaitForEnd() without a coroutine, which would cost several times as much as the wait. `done` is
  // called once, on the executor of the coroutines, perhaps before this returns. Emitting to `slot`
  // before that cancels the wait.
  using WaitDone = absl::AnyInvocable<void(absl::StatusOr<v1::Command>) &&>;
  virtual void BeginWaitForEnd(std::string client_id, std::string command_id,
                               absl::Duration max_wait, boost::asio::cancellation_slot slot,
                               WaitDone done) = 0;
  // The command as soon as its revision is above `after_revision` or it has ended, or its state
  // after `max_wait`. Otherwise as above.
  virtual Result<v1::Command> WaitForChange(std::string client_id, std::string command_id,
                                            int64_t after_revision, absl::Duration max_wait) = 0;

  // Call on the executor of the coroutines. Connects if there is no connection.
  virtual TrackerClientStatistics Statistics() = 0;

  // Watches the matching commands of the client or of `owner`, as in ListCommandsRequest: the
  // existing ones unless `only_changes`, and from then on each change and removal. Call this, and
  // use and destroy the feed, on the executor of the coroutines.
  virtual std::unique_ptr<CommandFeed> Watch(std::string client_id, std::string owner,
                                             v1::CommandFilter filter, bool only_changes) = 0;
};

// Connects lazily. `executor` runs all coroutines, one at a time. The client's destruction stops
// the queue; by then the executor must have stopped, and must still exist. With `tls` the tracker
// must prove its identity, unless it is reached over a Unix socket.
std::unique_ptr<TrackerClient> ConnectToTracker(const std::vector<Address>& addresses,
                                                std::shared_ptr<CallQueue> calls,
                                                boost::asio::any_io_executor executor,
                                                const std::optional<TlsFiles>& tls = std::nullopt);

}  // namespace callslip::gateway
