#pragma once

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

// The open permission requests of a session's agent: asks users through the tracker, until one has
// answered or the agent does not need the answer any more. Use on the runner's thread.
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

  // The tracker's limit per session. Further questions are rejected.
  static constexpr size_t kMaxOpenQuestions = 32;

  // Calls `answer` once, unless the question is withdrawn before. The session's parent can allow
  // the request if `parent_may_allow`. `span` ends with the question. Keeps no more of the question
  // than is shown.
  void Ask(const PermissionQuestion& question, const std::string& permission_id,
           bool parent_may_allow, ActiveSpan span, std::function<void(PermissionChoice)> answer);
  // No answer to that question is needed any more; see PermissionQuestion::number.
  void Withdraw(int64_t number);
  void WithdrawAll();
  // The session has another runner, which also has its questions: withdraws none.
  void Release();

  bool empty() const { return open_.empty(); }

 private:
  // The stored part of a question.
  struct Asked {
    int64_t number = 0;
    v1::AskPermissionRequest request;
    std::map<std::string, std::string> own_ids;  // The agent's option ids, by the tracker's.
    PermissionChoice rejection;                  // Picked if no person can be asked.
  };

  boost::asio::awaitable<void> AskTracker(Asked question, ActiveSpan span,
                                          std::function<void(PermissionChoice)> answer);
  boost::asio::awaitable<void> WithdrawAtTracker(std::string permission_id);

  const boost::asio::any_io_executor executor_;
  TrackerCalls* const tracker_;
  Timers* const timers_;
  const SessionName session_;
  const std::shared_ptr<Recorder> recorder_;
  std::map<int64_t, std::string> open_;  // The tracker's ids by question number.
  bool is_released_ = false;
};

// The title of a question, truncated to the limit for recorded titles.
std::string TitleOf(const PermissionQuestion& question);

}  // namespace callslip::runner
