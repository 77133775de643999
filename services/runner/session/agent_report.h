#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "rpc_client/promise.h"
#include "rpc_client/tracker_calls.h"
#include "runner/acp/agent_update.h"
#include "runner/session/session_name.h"
#include "runner/timers.h"

namespace callslip::runner {

// Reports the state of a session's agent and the results of controls to the tracker. If the tracker
// is slower than the agent, only the newest state is sent; details that change constantly are sent
// every kEvery. Use on the runner's thread.
class AgentReport : public std::enable_shared_from_this<AgentReport> {
 public:
  // Well below the 8 s that the tracker waits for the answer to a control.
  static constexpr absl::Duration kControlTime = absl::Seconds(5);

  // Between two calls, unless the status or its reason has changed.
  static constexpr absl::Duration kEvery = absl::Milliseconds(250);

  // Adds the current details to a request.
  using Details = std::function<void(v1::SetAgentStateRequest&)>;

  // `tracker` and `timers` must outlive its coroutines. `details` is called while is_telling(),
  // `told` at its end.
  AgentReport(boost::asio::any_io_executor executor, TrackerCalls* tracker, Timers* timers,
              SessionName session, Details details, std::function<void()> told);

  // Reports a status. `why` is empty if nothing is wrong.
  void ReportStatus(v1::AgentStatus status, const AgentError& why = {});
  // Repeats the last report, if any: the details have changed, or the tracker may not know it.
  void SayAgain();
  // Like SayAgain(), but immediately: the tracker must know before anything else happens.
  void SayAgainAtOnce();
  v1::AgentStatus status() const { return said_.status(); }
  const std::string& reason() const { return said_.reason(); }
  bool is_telling() const { return is_telling_; }

  // Reports the result of a control: `error` is empty on success.
  void Answer(const std::string& control_id, const AgentError& error = {});
  // Answers the control when AnswerWaiting() is called, or as successful after kControlTime: the
  // agent's state is reported in any case.
  void AnswerLater(std::string control_id);
  void AnswerWaiting(const AgentError& error = {});

  // The session has another runner: reports nothing more.
  void Release() {
    is_released_ = true;
    Hurry();
  }

 private:
  void TellSaid();
  boost::asio::awaitable<void> Tell();
  // Waits until kEvery has passed since the last call, or until something urgent must be sent.
  boost::asio::awaitable<void> AwaitNext();
  void Hurry();
  boost::asio::awaitable<void> Send(v1::AnswerControlRequest answer);

  const boost::asio::any_io_executor executor_;
  TrackerCalls* const tracker_;
  Timers* const timers_;
  const SessionName session_;
  const Details details_;
  const std::function<void()> told_;
  v1::SetAgentStateRequest said_;
  bool is_telling_ = false;
  bool is_changed_ = false;  // Since the call in progress began.
  bool is_urgent_ = false;   // More than the details has changed.
  absl::Time next_time_ = absl::InfinitePast();
  std::optional<Promise<bool>> pause_;
  std::vector<std::string> waiting_;
  std::unique_ptr<Timers::Timer> waiting_timer_;
  bool is_released_ = false;
};

}  // namespace callslip::runner
