#include "runner/session/agent_report.h"

#include <utility>

#include "common/log.h"
#include "common/random.h"
#include "runner/session/session_host.h"
#include "runner/tracker/call_with_retry.h"

namespace callslip::runner {

AgentReport::AgentReport(boost::asio::any_io_executor executor, TrackerCalls* tracker,
                         Timers* timers, SessionName session, Details details,
                         std::function<void()> told)
    : executor_(std::move(executor)),
      tracker_(tracker),
      timers_(timers),
      session_(std::move(session)),
      details_(std::move(details)),
      told_(std::move(told)),
      said_(RequestAbout<v1::SetAgentStateRequest>(session_)) {}

void AgentReport::ReportStatus(v1::AgentStatus status, const AgentError& why) {
  const bool has_failed = status == v1::AGENT_STATUS_FAILED;
  said_.set_failure(has_failed ? static_cast<int64_t>(Random64() >> 1 | 1) : 0);
  if (status != said_.status() || why.reason != said_.reason()) Hurry();
  said_.set_status(status);
  said_.set_reason(why.reason);
  said_.set_message(why.message);
  TellSaid();
}

void AgentReport::TellSaid() {
  is_changed_ = true;
  if (!std::exchange(is_telling_, true)) SpawnFor(shared_from_this(), executor_, Tell());
}

void AgentReport::SayAgain() {
  if (is_released_ || said_.status() == v1::AGENT_STATUS_UNSPECIFIED) return;
  TellSaid();
}

void AgentReport::SayAgainAtOnce() {
  Hurry();
  SayAgain();
}

void AgentReport::Hurry() {
  is_urgent_ = true;
  if (pause_.has_value()) pause_->Set(true);
}

boost::asio::awaitable<void> AgentReport::AwaitNext() {
  const absl::Duration left = next_time_ - timers_->Now();
  if (is_urgent_ || left <= absl::ZeroDuration()) co_return;
  pause_.emplace(executor_);
  const auto timer = timers_->After(left, [over = *pause_] { over.Set(true); });
  co_await pause_->Get();
  pause_.reset();
}

boost::asio::awaitable<void> AgentReport::Tell() {
  const auto is_over = [this] { return is_released_; };
  while (is_changed_ && !is_released_) {
    co_await AwaitNext();
    if (is_released_) break;
    is_changed_ = is_urgent_ = false;
    next_time_ = timers_->Now() + kEvery;
    v1::SetAgentStateRequest request = said_;
    details_(request);
    const auto said = co_await CallWithRetry(*tracker_, *timers_, std::move(request), is_over);
    if (!said.ok()) {
      Log(LogLevel::kDebug, "the tracker did not take how an agent is",
          {{"session", session_.session_id}, {"error", std::string(said.status().message())}});
    }
  }
  is_telling_ = false;
  told_();
}

void AgentReport::Answer(const std::string& control_id, const AgentError& error) {
  if (is_released_) return;
  auto answer = RequestAbout<v1::AnswerControlRequest>(session_);
  answer.set_control_id(control_id);
  answer.set_error_reason(error.reason);
  answer.set_error_message(error.message);
  SpawnFor(shared_from_this(), executor_, Send(std::move(answer)));
}

boost::asio::awaitable<void> AgentReport::Send(v1::AnswerControlRequest answer) {
  co_await CallWithRetry(*tracker_, *timers_, std::move(answer), [this] { return is_released_; });
}

void AgentReport::AnswerLater(std::string control_id) {
  waiting_.push_back(std::move(control_id));
  if (waiting_timer_ != nullptr) return;
  waiting_timer_ = timers_->After(kControlTime, [this] { AnswerWaiting(); });
}

void AgentReport::AnswerWaiting(const AgentError& error) {
  waiting_timer_.reset();
  for (const std::string& control : std::exchange(waiting_, {})) Answer(control, error);
}

}  // namespace callslip::runner
