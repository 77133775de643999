#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "rpc_client/promise.h"
#include "rpc_client/tracker_calls.h"
#include "runner/session/event_batch.h"
#include "runner/session/session_name.h"
#include "runner/timers.h"

namespace callslip::runner {

// Records the output of an agent, in order and exactly once, however often the tracker is
// unavailable meanwhile. Sends the first event at once, and events that arrive during a call or
// within kEvery with the next one: at most 40 events of a text per second.
class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  static constexpr absl::Duration kEvery = absl::Milliseconds(25);
  // Above this backlog the tracker does not keep up, and Add() fails.
  static constexpr size_t kMaxWaiting = size_t{32} << 20;
  // Above this backlog the agent must be paused: see WaitForRoom().
  static constexpr size_t kManyWaiting = size_t{8} << 20;

  // `tracker` and `timers` must outlive its coroutines. `last_seq` is the session's last sequence
  // number before anything is recorded here.
  Recorder(boost::asio::any_io_executor executor, TrackerCalls* tracker, Timers* timers,
           SessionName session, int64_t last_seq)
      : executor_(std::move(executor)),
        tracker_(tracker),
        timers_(timers),
        session_(std::move(session)),
        last_seq_(last_seq) {}

  // Call when a turn begins: the cause of an earlier recording failure may be gone.
  void Begin();
  // Returns false if recording has failed: see status(). An event that the tracker rejects is not
  // such a failure: a note about it is recorded in its place.
  bool Add(NewEvent event);
  // Waits until all added events are recorded.
  boost::asio::awaitable<absl::Status> Flush();
  bool has_room() const { return batch_.bytes() <= kManyWaiting; }
  // Waits until has_room(), or until recording has failed.
  boost::asio::awaitable<void> WaitForRoom();
  // Why recording has failed, until the next turn: the session has ended, the logs of its client
  // are full, or the tracker was unavailable for too long.
  const absl::Status& status() const { return status_; }
  // Events up to `seq` are known to be from others.
  void Passed(int64_t seq) { last_seq_ = std::max(last_seq_, seq); }

 private:
  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<absl::Status> Append(std::vector<v1::SessionEvent> events);
  // Appends the events one by one, without those that are rejected.
  boost::asio::awaitable<absl::Status> AppendEach(std::vector<v1::SessionEvent> events);
  // Whether events with an unknown outcome were recorded.
  boost::asio::awaitable<absl::StatusOr<bool>> WereRecorded(
      const std::vector<v1::SessionEvent>& events);

  const boost::asio::any_io_executor executor_;
  TrackerCalls* const tracker_;
  Timers* const timers_;
  const SessionName session_;
  int64_t last_seq_;
  EventBatch batch_;
  bool running_ = false;
  absl::Status status_;
  std::vector<Promise<bool>> flushes_;
  std::vector<Promise<bool>> rooms_;
};

}  // namespace callslip::runner
