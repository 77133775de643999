#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "callslip/tracker/v1/runner_service.pb.h"
#include "common/mutex.h"
#include "common/timer_thread.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// The ControlAgent calls that wait for their runner. Thread-safe; answers without holding a lock.
class RunnerControls {
 public:
  using Reply = std::shared_ptr<DeferredReply<v1::AgentState>>;

  explicit RunnerControls(std::shared_ptr<TimerThread> timers) : timers_(std::move(timers)) {}

  // Holds a call until it is taken, for at most kControlWait: then it fails with RunnerSilent. Sets
  // the id in `control`. TooManyControls, or the error passed to EndAll().
  absl::Status Add(const std::string& session_id, v1::AgentControl& control, const Reply& reply);
  // The control has been sent to the runner.
  void SetSent(const std::string& control_id);
  // The session's controls that were never sent.
  std::vector<v1::AgentControl> Unsent(const std::string& session_id);
  // Removes the waiting call and returns it; null if there is none.
  Reply Take(const std::string& session_id, const std::string& control_id);
  // Fails the session's calls.
  void Fail(const std::string& session_id, const absl::Status& why);
  // Fails all current and future calls.
  void EndAll(const absl::Status& why);

 private:
  struct Waiting {
    std::string session_id;
    v1::AgentControl control;
    Reply reply;
    TimerThread::TimerId timer = 0;
    bool sent = false;
  };

  // Removes and returns the calls for which `choose` is true.
  template <typename Choose>
  std::vector<Waiting> Remove(Choose choose);
  Reply RemoveOne(const std::string& control_id);

  const std::shared_ptr<TimerThread> timers_;
  Mutex mutex_;
  absl::Status ended_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // By control_id.
  absl::flat_hash_map<std::string, size_t> of_session_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
