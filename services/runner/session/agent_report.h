#ifndef CALLSLIP_RUNNER_SESSION_AGENT_REPORT_H_
#define CALLSLIP_RUNNER_SESSION_AGENT_REPORT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "rpc_client/tracker_calls.h"
#include "runner/acp/agent_update.h"
#include "runner/later.h"
#include "runner/session/session_name.h"
#include "runner/timers.h"

namespace callslip::runner {

// Tells the tracker how the agent of a session is, and what came of what somebody wants of it.
// Where the tracker is slower than the agent, only the newest state is told, and details that
// change all the time are told kEvery. Lives on the runner's one thread.
class AgentReport : public std::enable_shared_from_this<AgentReport> {
 public:
  // Well below the 8 s that the tracker waits for the answer to a control.
  static constexpr absl::Duration kControlTime = absl::Seconds(5);

  // Between two calls, unless the status or its reason has changed.
  static constexpr absl::Duration kEvery = absl::Milliseconds(250);

  // Adds what is to be told besides the status, as it is then.
  using Details = std::function<void(v1::SetAgentStateRequest&)>;

  // `tracker` and `timers` must outlive its coroutines. `details` and `told` are called as long as
  // is_telling().
  AgentReport(boost::asio::any_io_executor executor, TrackerCalls* tracker, Timers* timers,
              SessionName session, Details details, std::function<void()> told);

  // `why` is empty where nothing is wrong.
  void Say(v1::AgentStatus status, const AgentError& why = {});
  // The same again, if anything was said: its details are others, or the tracker may not know it.
  void SayAgain();
  // The same, at once: it is to be known before anything else happens.
  void SayAgainAtOnce();
  v1::AgentStatus status() const { return said_.status(); }
  const std::string& reason() const { return said_.reason(); }
  bool is_telling() const { return is_telling_; }

  // What somebody wants was done, or not: `error` is empty, or says why.
  void Answer(const std::string& control_id, const AgentError& error = {});
  // The same once AnswerWaiting() is called, or after kControlTime as done: how the agent stands is
  // told in any case.
  void AnswerLater(std::string control_id);
  void AnswerWaiting(const AgentError& error = {});

  // The session is not this runner's any more: nothing is told.
  void Release() {
    is_released_ = true;
    Hurry();
  }

 private:
  void TellSaid();
  boost::asio::awaitable<void> Tell();
  // Until kEvery has passed since the last call, or there is something that does not wait.
  boost::asio::awaitable<void> AwaitNext();
  void Hurry();
  boost::asio::awaitable<void> Send(v1::AnswerControlRequest answer);
  template <typename Coroutine>
  void Spawn(Coroutine coroutine);

  const boost::asio::any_io_executor executor_;
  TrackerCalls* const tracker_;
  Timers* const timers_;
  const SessionName session_;
  const Details details_;
  const std::function<void()> told_;
  v1::SetAgentStateRequest said_;
  bool is_telling_ = false;
  bool is_changed_ = false;  // Since the call that is under way.
  bool is_urgent_ = false;   // And more than details.
  absl::Time next_time_ = absl::InfinitePast();
  std::optional<Later<bool>> pause_;
  std::vector<std::string> waiting_;
  std::unique_ptr<Timers::Timer> waiting_timer_;
  bool is_released_ = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_AGENT_REPORT_H_
