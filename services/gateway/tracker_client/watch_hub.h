#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/steady_timer.hpp"
#include "callslip/tracker/v1/command_service.pb.h"
#include "common/clock.h"
#include "common/latency_histogram.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// One WatchCommands call, as the hub uses it. Both sides run on the hub's executor, and a call does
// not notify its listener before its constructor has returned.
class WatchCall {
 public:
  class Listener {
   public:
    // The call has begun, or the previous message has left, after IsReady() returned false.
    virtual void OnReady() = 0;
    virtual void OnUpdates(v1::WatchCommandsResponse response) = 0;
    // Nothing follows; the call can be destroyed. The status can be OK.
    virtual void OnEnd(absl::Status status) = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~WatchCall() = default;
  // Whether one message can be sent. If not, OnReady() follows unless the call ends.
  virtual bool IsReady() = 0;
  virtual void Send(const v1::WatchCommandsRequest& request) = 0;
};

// What to watch, and the receiver of the updates.
class Watch {
 public:
  struct Subject {
    std::string client_id;
    // For a filter: the owner of the commands, if not the client.
    std::string owner = {};
    // One command, or all that match the filter.
    std::string command_id;
    std::unique_ptr<v1::CommandFilter> filter;
    int64_t after_revision = 0;
    // When the tracker must give up; never for filters. The hub gives up after an additional
    // margin.
    absl::Time until = absl::InfiniteFuture();
    bool only_end = false;
    // For a filter: see CommandWatch.
    bool only_changes = false;

    // A wait is neither a look nor a feed. The tracker answers a look at once, because every
    // revision is above 0.
    bool is_wait() const { return filter == nullptr && !is_look(); }
    bool is_look() const { return filter == nullptr && !only_end && after_revision == 0; }
  };

  explicit Watch(Subject subject) : subject_(std::move(subject)) {}
  virtual ~Watch() = default;

  // With the awaited state, which ends this watch. For a filter, each update except the last one,
  // including the first one, which reports that it has begun.
  virtual void OnUpdate(v1::CommandUpdate update) = 0;
  // The end of this watch. OK: its time is over.
  virtual void OnEnd(absl::Status status) = 0;

 protected:
  const Subject& subject() const { return subject_; }

 private:
  friend class WatchHub;

  Subject subject_;
  bool sent_ = false;  // The tracker has it, as far as the hub knows.
  size_t stream_ = 0;  // The stream that carries it.
  absl::Time begun_;   // For waits.
};

// All waits of the gateway over a few WatchCommands calls, which are opened with the first watch
// and reopened whenever they end. Watches of one command then continue within their time, even if a
// tracker that shuts down has ended them. Watches of a filter end with UNAVAILABLE, because they
// may have missed a change. A tracker that shuts down accepts no watches but still answers calls:
// its looks end with its own error.
//
// A watch with a longer name than the tracker accepts ends with INVALID_ARGUMENT and is never sent:
// it would break the call, and with it all other waits. A message of watches has at most 1 MiB.
//
// Watches that the tracker answers at once are sent together, once there are as many of them as are
// in progress. A hundred callers cost a few messages, and a single one does not wait.
//
// Use on its executor only. The hub calls the methods of a watch, which may use the hub but must
// not take long. Remaining watches are destroyed with the hub without notification.
class WatchHub {
 public:
  using OpenCall = std::function<std::unique_ptr<WatchCall>(WatchCall::Listener*)>;

  // The maximum length of an ID or other name in a watch: the tracker's own limit for the fields of
  // its requests.
  static constexpr size_t kMaxNameBytes = 1024;

  // `clock` must outlive this.
  WatchHub(boost::asio::any_io_executor executor, Clock* clock, OpenCall open);
  ~WatchHub();

  // Returns the ID of the watch.
  int64_t Begin(std::unique_ptr<Watch> watch);
  // Returns the watch, or null if it has ended.
  std::unique_ptr<Watch> Remove(int64_t watch_id) { return Take(watch_id, /*tell=*/true); }

  // Waits in progress, and the durations of those that have ended.
  int64_t waits() const { return waits_; }
  const LatencyHistogram& waited() const { return waited_; }

  // Ends all watches, and later ones as soon as they begin, with CANCELLED, reason `draining`: the
  // gateway stops.
  void EndAll();

 private:
  class Stream;

  Stream& StreamWithRoom();
  v1::CommandWatch MessageFor(int64_t watch_id, Watch& watch);
  void OnUpdate(Stream& stream, v1::CommandUpdate& update);
  void OnBroken(Stream& stream, const absl::Status& status);
  // Null if the watch has ended; `tell`: the tracker may still have it.
  std::unique_ptr<Watch> Take(int64_t watch_id, bool tell);
  void End(int64_t watch_id, absl::Status status);

  void ArmTimer();
  void OnTimer();

  const boost::asio::any_io_executor executor_;
  Clock* const clock_;
  const OpenCall open_;
  std::vector<std::unique_ptr<Stream>> streams_;
  absl::flat_hash_map<int64_t, std::unique_ptr<Watch>> watches_;
  int64_t next_id_ = 1;
  bool ended_ = false;
  int64_t waits_ = 0;
  LatencyHistogram waited_;

  // For a tracker that does not answer.
  absl::btree_set<std::pair<absl::Time, int64_t>> deadlines_;
  boost::asio::steady_timer timer_;
  absl::Time timer_until_ = absl::InfiniteFuture();
};

}  // namespace callslip::gateway
