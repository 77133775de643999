#ifndef CALLSLIP_RUNNER_SESSION_SESSION_QUESTIONS_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_QUESTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "rpc_client/tracker_calls.h"
#include "runner/agent/agent.h"
#include "runner/session/recorder.h"
#include "runner/session/session_name.h"
#include "runner/timers.h"
#include "telemetry/active_span.h"

namespace callslip::runner {

// The permissions that the agent of a session waits for: asked of people through the tracker, until
// somebody has answered or the agent wants no answer any more. Lives on the runner's one thread.
class SessionQuestions : public std::enable_shared_from_this<SessionQuestions> {
 public:
  // `tracker` and `timers` must outlive its coroutines.
  SessionQuestions(boost::asio::any_io_executor executor, TrackerCalls* tracker, Timers* timers,
                   SessionName session, std::shared_ptr<Recorder> recorder)
      : executor_(std::move(executor)),
        tracker_(tracker),
        timers_(timers),
        session_(std::move(session)),
        recorder_(std::move(recorder)) {}

  // As many as the tracker takes of a session. What is asked beyond that is rejected.
  static constexpr size_t kMostOpen = 32;

  // Calls `answer`, once; never where the question is withdrawn before. Lets the session's parent
  // answer what it may allow itself, where `parent_may_allow`. `span` ends with it. Of the question
  // no more is kept than is shown.
  void Ask(const PermissionQuestion& question, const std::string& permission_id,
           bool parent_may_allow, ActiveSpan span, std::function<void(PermissionChoice)> answer);
  // Nobody waits for an answer to that one any more; see PermissionQuestion::number.
  void Withdraw(int64_t number);
  void WithdrawAll();
  // The session is not this runner's any more: neither are its questions to withdraw.
  void Release();

  bool empty() const { return open_.empty(); }

 private:
  // What is kept of a question.
  struct Asked {
    int64_t number = 0;
    v1::AskPermissionRequest request;
    std::map<std::string, std::string> own_ids;  // The agent's, by the tracker's ids of options.
    PermissionChoice rejection;                  // Where nobody can be asked.
  };

  boost::asio::awaitable<void> AskTracker(Asked question, ActiveSpan span,
                                          std::function<void(PermissionChoice)> answer);
  boost::asio::awaitable<void> WithdrawAtTracker(std::string permission_id);
  template <typename Coroutine>
  void Spawn(Coroutine coroutine);

  const boost::asio::any_io_executor executor_;
  TrackerCalls* const tracker_;
  Timers* const timers_;
  const SessionName session_;
  const std::shared_ptr<Recorder> recorder_;
  std::map<int64_t, std::string> open_;  // The tracker's ids, by their numbers.
  bool is_released_ = false;
};

// What a question is called, within what is recorded of a title.
std::string TitleOf(const PermissionQuestion& question);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SESSION_QUESTIONS_H_
