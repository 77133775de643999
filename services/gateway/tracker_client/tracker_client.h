#ifndef CALLSLIP_GATEWAY_TRACKER_CLIENT_TRACKER_CLIENT_H_
#define CALLSLIP_GATEWAY_TRACKER_CLIENT_TRACKER_CLIENT_H_

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

// How the way to the tracker does.
struct TrackerClientStatistics {
  bool connected = false;
  int64_t waits = 0;  // Under way.
  LatencyHistogram waited;
};

// Changes of commands as they come. Its destruction ends it at the tracker too.
class CommandFeed {
 public:
  virtual ~CommandFeed() = default;

  // What has come since the last call, once there is something: never empty, each command as it was
  // when it changed or was removed, without params and result; up to 10,000. Where only changes are
  // followed the first one has no command, and says that what happens from now on will be told. One
  // call at a time. Waits for the tracker without limit.
  //
  // An error is the end of the feed: those of the tracker, among them RESOURCE_EXHAUSTED, reason
  // `too_slow`, where changes come faster than they are taken; UNAVAILABLE without a reason where
  // some may have been missed, because the connection was lost. List the commands, then watch anew.
  virtual boost::asio::awaitable<absl::StatusOr<std::vector<v1::CommandUpdate>>> Next() = 0;
};

// The gateway's way to the tracker's commands: its calls, waits and feeds.
//
// A wait goes on until its time is over, however often the connection or the tracker ends
// meanwhile. A wait whose coroutine is cancelled is freed at the tracker too.
//
// What awaits an answer is dispatched to the coroutines' executor from the queue's thread. All
// waits share one WatchCommands stream for each 25,000 of them, which is opened with the first one
// and again when it breaks: a wait costs memory and no stream of its own.
class TrackerClient : public TrackerCalls {
 public:
  // GetCommand. Counts as collecting the result, unless `peek`.
  Result<v1::Command> Get(std::string client_id, std::string command_id, bool peek);

  // The command once it has ended, or as it is after `max_wait`; at once where that is zero. A
  // result that is returned counts as collected.
  virtual Result<v1::Command> WaitForEnd(std::string client_id, std::string command_id,
                                         absl::Duration max_wait) = 0;
  // The same without a coroutine, which would cost several times what the wait does. `done` is
  // called once, on the executor of the coroutines, perhaps before this returns. Emitting to `slot`
  // before that cancels the wait.
  using WaitDone = absl::AnyInvocable<void(absl::StatusOr<v1::Command>) &&>;
  virtual void BeginWaitForEnd(std::string client_id, std::string command_id,
                               absl::Duration max_wait, boost::asio::cancellation_slot slot,
                               WaitDone done) = 0;
  // The command as soon as its revision is above `after_revision` or it has ended, or as it is
  // after `max_wait`. Otherwise as above.
  virtual Result<v1::Command> WaitForChange(std::string client_id, std::string command_id,
                                            int64_t after_revision, absl::Duration max_wait) = 0;

  // On the executor of the coroutines. Connects where there is no connection.
  virtual TrackerClientStatistics Statistics() = 0;

  // Follows the commands that match, of the client or of `owner`, as ListCommandsRequest has it:
  // those that are there unless `only_changes`, and from then on each change and removal. To be
  // called, and the feed to be used and destroyed, on the executor of the coroutines.
  virtual std::unique_ptr<CommandFeed> Watch(std::string client_id, std::string owner,
                                             v1::CommandFilter filter, bool only_changes) = 0;
};

// Connects lazily. `executor` is that of all coroutines and runs one at a time. The destruction of
// the client stops the queue; by then the executor must have stopped, and must still exist. With
// `tls` the tracker has to prove who it is, unless it is reached over a unix socket.
std::unique_ptr<TrackerClient> ConnectToTracker(const std::vector<Address>& addresses,
                                                std::shared_ptr<CallQueue> calls,
                                                boost::asio::any_io_executor executor,
                                                const std::optional<TlsFiles>& tls = std::nullopt);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_TRACKER_CLIENT_TRACKER_CLIENT_H_
