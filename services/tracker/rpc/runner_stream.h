#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "callslip/tracker/v1/runner_service.pb.h"
#include "common/mutex.h"
#include "tracker/domain/runner/runner.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/rpc/session_stream.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// One Serve call: sends the runner its assignments as fast as it reads. Looks up few sessions at a
// time, so that waiting ones cost only their ids. Thread-safe.
class RunnerStream final : public LastingCall, public std::enable_shared_from_this<RunnerStream> {
 public:
  using Stream = ServerStream<v1::Assignment>;
  // A session and its lease, without the action.
  using Found = std::function<void(absl::StatusOr<v1::Assignment>)>;
  // Calls `found` once, now or later, with a session of the runner, or an error if the session is
  // not the runner's any more.
  using Find = std::function<void(const std::string& session_id, Found found)>;
  // Calls the function a second later.
  using Later = std::function<void(std::function<void()>)>;

  // Calls `on_gone` when the call has ended or its caller has left, possibly more than once.
  // Retries lookups that failed temporarily, through `later`.
  RunnerStream(std::shared_ptr<Stream> stream, Find find, Later later,
               std::function<void()> on_gone);

  // Whether the storage is busy or failing temporarily.
  static bool MayPass(const absl::Status& status) {
    return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
  }

  // Sends `started`, and then the rest.
  void Begin();
  // Announces that the session needs its agent. Does nothing if that announcement is already
  // waiting.
  void Need(const std::string& session_id);
  // Calls `on_sent` once the control is sent.
  void Control(const std::string& session_id, v1::AgentControl control,
               std::function<void()> on_sent);
  void Release(const HeldSession& held, const std::string& reason);

  void End(const absl::Status& status) override;
  void OnCallerLeft();

  // The source of the stream.
  std::optional<Outgoing<v1::Assignment>> Next();

 private:
  // An assignment whose session must be looked up.
  struct Task {
    std::string session_id;
    std::optional<v1::AgentControl> control;  // None: its agent is needed.
    std::function<void()> on_sent;
    int tries = 0;
  };
  struct Ready {
    v1::Assignment message = {};
    std::function<void()> on_sent;
  };
  static constexpr size_t kAtATime = 16;
  // After so many lookups no caller waits for a control any more: see kControlWait.
  static constexpr int kControlTries = 7;

  void Add(Task task);
  void PutBack(Task task);
  // Ends the call if too much is waiting, looks up sessions, and wakes the stream.
  void GoOn();
  // The next tasks to look up; nullopt if there is nothing to do.
  std::optional<std::vector<Task>> Take();
  void OnFound(Task task, absl::StatusOr<v1::Assignment> assignment);

  StreamOfSession<v1::Assignment> stream_;
  const Find find_;
  const Later later_;
  const std::function<void()> on_gone_;

  Mutex mutex_;
  bool begun_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  // Tasks of sessions whose lookup is retried later; new tasks of such a session queue behind them.
  std::map<std::string, std::deque<Task>> put_back_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> needed_ ABSL_GUARDED_BY(mutex_);  // In tasks_, without control.
  bool going_on_ ABSL_GUARDED_BY(mutex_) = false;
  bool again_ ABSL_GUARDED_BY(mutex_) = false;
  size_t finding_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Ready> ready_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
