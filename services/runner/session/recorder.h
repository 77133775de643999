#ifndef CALLSLIP_RUNNER_SESSION_RECORDER_H_
#define CALLSLIP_RUNNER_SESSION_RECORDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "rpc_client/tracker_calls.h"
#include "runner/later.h"
#include "runner/session/event_batch.h"
#include "runner/session/session_name.h"
#include "runner/timers.h"

namespace callslip::runner {

// Records what an agent says, in its order and once, however often the tracker is away meanwhile.
// The first piece at once, what comes while a call is under way or within kEvery with the next one:
// at most 40 events of a text a second.
class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  static constexpr absl::Duration kEvery = absl::Milliseconds(25);
  // Above this the tracker does not keep up: Add() is refused.
  static constexpr size_t kMostWaiting = size_t{32} << 20;
  // Above this the agent is to be held back: see WaitForRoom().
  static constexpr size_t kManyWaiting = size_t{8} << 20;

  // `tracker` and `timers` must outlive its coroutines. `last_seq`: of the session, at least as it
  // was before anything is recorded here.
  Recorder(boost::asio::any_io_executor executor, TrackerCalls* tracker, Timers* timers,
           SessionName session, int64_t last_seq)
      : executor_(std::move(executor)),
        tracker_(tracker),
        timers_(timers),
        session_(std::move(session)),
        last_seq_(last_seq) {}

  // Where a turn begins: what has kept something of the one before from being recorded may be over.
  void Begin();
  // False where nothing is recorded any more: see status(). An event that the tracker refuses is
  // none of these: that it was left out is recorded in its place.
  bool Add(NewEvent event);
  // Waits until all that was added is recorded.
  boost::asio::awaitable<absl::Status> Flush();
  bool has_room() const { return batch_.bytes() <= kManyWaiting; }
  // Until there is, or nothing is recorded any more.
  boost::asio::awaitable<void> WaitForRoom();
  // Why nothing is recorded any more, until the next turn: the session has ended, its client has no
  // room, or the tracker was away for too long.
  const absl::Status& status() const { return status_; }
  // Events up to this are known to be others'.
  void Passed(int64_t seq) { last_seq_ = std::max(last_seq_, seq); }

 private:
  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<absl::Status> Append(std::vector<v1::SessionEvent> events);
  // One by one, without those that are refused.
  boost::asio::awaitable<absl::Status> AppendEach(std::vector<v1::SessionEvent> events);
  // Whether events that may have been recorded were.
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
  std::vector<Later<bool>> flushes_;
  std::vector<Later<bool>> rooms_;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_RECORDER_H_
