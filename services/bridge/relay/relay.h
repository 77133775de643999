#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "bridge/http/gateway_client.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/agent_roots.h"
#include "bridge/relay/answers.h"
#include "bridge/relay/call_pool.h"
#include "bridge/relay/retrying_sender.h"
#include "bridge/relay/session_keeper.h"
#include "bridge/relay/stdio.h"
#include "bridge/relay/timeout_policy.h"
#include "bridge/relay/uploads.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip::bridge {

// Carries the messages of one agent to the gateway and the answers back.
//
// Its promise: each request gets exactly one answer, at its deadline at the latest, and none once
// it was cancelled. A request is *unfinished* until a thread takes it out of the table (its worker,
// the deadline thread, a cancel); the thread that takes it also answers it.
//
// Messages run in parallel, with one exception: messages that arrive while an `initialize` is
// unfinished are held until its answer, since only then is the session known that their headers
// must carry.
//
// The RetryingSender decides how often a message is sent.
//
// Thread-safe. Owned by main(); all three pointers must outlive it.
class Relay {
 public:
  Relay(const TimeoutPolicy& policy, Clock* clock, GatewayClient* gateway, LineWriter* writer);

  // Does not answer anything; see Drain().
  ~Relay();

  // Handles one line from the agent. Does not wait for the gateway, only for the agent to read.
  void HandleLine(std::string line);

  // Reads lines on the relay's own threads until `read` returns false; see CallPool::ReadWith().
  void ReadWith(int fd, std::function<bool()> read) { pool_->ReadWith(fd, std::move(read)); }

  // Answers the request of a line that was longer than kMaxLineBytes and was skipped. `id`: its id,
  // in JSON bytes; if it is empty, the error has no id.
  void HandleTooLongLine(const std::string& id);

  // Refuses everything new, gives the unfinished calls `grace` to finish, answers the rest, and
  // ends the session. Blocks for about `grace` and kEndSessionTimeout.
  void Drain(absl::Duration grace);

 private:
  struct Call;
  using CallPtr = std::shared_ptr<Call>;

  void HandleMessage(Message message);
  // Answers what cannot be handled, under its id if that can be read.
  void Refuse(absl::string_view line, int code, absl::string_view error);
  // `id` (JSON bytes), or empty if an unfinished request has it: the agent is still owed the answer
  // to that one.
  std::string FreeId(const std::string& id);

  // Puts a call into the table and starts, holds or refuses it.
  void Admit(CallPtr call);
  std::optional<std::string> RefusalLocked(const Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Start(CallPtr call);
  // Cancels the request with this id, if it is unfinished. True if the notification need not be
  // forwarded: a modern request is cancelled by closing its connection.
  bool Cancel(const std::string& id_key);

  // Takes a call out of the table. False if another thread did before. After a true, the caller
  // must answer the call and call Answered().
  bool Take(const CallPtr& call);
  void TakeLocked(const CallPtr& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answered(const CallPtr& call);
  void Finish(const CallPtr& call, const Failure& failure);

  // The worker's steps for a call.
  void Run(const CallPtr& call);
  void Send(const CallPtr& call, const Message& message);
  void Conclude(const CallPtr& call, Exchange exchange);
  void ConcludeWithAnswer(const CallPtr& call, const ResponseHead& head, Message&& answer);
  // Returns false when the stream has no more to deliver.
  bool HandleEvent(const CallPtr& call, const ResponseHead& head, absl::string_view data);

  // Postpones the deadline of a call: a stream has begun, which may last indefinitely, or a call
  // that counts from its last message has received one.
  void SetDeadline(const CallPtr& call, absl::Time deadline);

  void RunDeadlines();
  // Takes all calls that are due and returns them with the time of the next one.
  std::pair<std::vector<CallPtr>, absl::Time> TakeDueLocked(absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsIdleLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return unfinished_.empty() && being_answered_ == 0;
  }

  const TimeoutPolicy policy_;
  Clock* const clock_;
  LineWriter* const writer_;
  const std::string url_;  // The gateway's, for failures.
  SessionKeeper session_;
  const RetryingSender sender_;
  AgentRoots roots_;
  const Uploads uploads_;
  const std::unique_ptr<Sleeper> deadline_sleeper_;

  Mutex mutex_;
  // All calls that no thread has taken, notifications included, by deadline; and the requests among
  // them by id.
  std::set<std::pair<absl::Time, CallPtr>> unfinished_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, CallPtr> requests_ ABSL_GUARDED_BY(mutex_);
  CondVar idle_;  // IsIdleLocked() has become true.
  int being_answered_ ABSL_GUARDED_BY(mutex_) = 0;
  int open_streams_ ABSL_GUARDED_BY(mutex_) = 0;
  CallPtr initialize_ ABSL_GUARDED_BY(mutex_);  // Set while one is unfinished.
  std::vector<CallPtr> held_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time drain_deadline_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  // When the deadline thread wakes next; only an earlier deadline wakes it before.
  absl::Time sleeping_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::unique_ptr<CallPool> pool_;
  std::thread deadline_thread_;
};

}  // namespace callslip::bridge
