#ifndef CALLSLIP_RUNNER_SESSION_FAKE_TRACKER_H_
#define CALLSLIP_RUNNER_SESSION_FAKE_TRACKER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "runner/later.h"
#include "runner/tracker/tracker_calls.h"
#include "support/session_events.h"

namespace callslip::runner {

// A tracker that has the log of one session, answers each append to it as the test says, and keeps
// what else it is told.
class FakeTracker final : public TrackerCalls {
 public:
  enum class How { kRecord, kLoseCall, kLoseAnswer, kRefuse, kBreak };

  Result<v1::AppendEventsResponse> Call(v1::AppendEventsRequest request) override {
    ++appends;
    lease = request.lease();
    const How how = next.empty() ? How::kRecord : next.front();
    if (!next.empty()) next.pop_front();
    if (how == How::kRefuse) {
      co_return ErrorWithDetails(absl::StatusCode::kFailedPrecondition, "over",
                                 {.reason = "session_ended"});
    }
    if (!v1::AppendEventsRequest().ParseFromString(request.SerializeAsString())) {
      co_return absl::InternalError("the request has bytes that are no UTF-8");
    }
    if (how == How::kBreak) co_return absl::InternalError("the request can't be read");
    for (const v1::SessionEvent& event : request.events()) {
      if (MemberOf(event, "text").find(refused) == std::string::npos) continue;
      co_return ErrorWithDetails(absl::StatusCode::kInvalidArgument, "text is too bad",
                                 {.reason = "invalid_argument"});
    }
    v1::AppendEventsResponse response;
    response.set_first_seq(static_cast<int64_t>(log.size()) + 1);
    if (how != How::kLoseCall) {
      for (const v1::SessionEvent& event : request.events()) Record(event);
    }
    response.set_last_seq(static_cast<int64_t>(log.size()));
    if (how != How::kRecord) co_return absl::UnavailableError("connection lost");
    co_return response;
  }
  Result<v1::ReadEventsResponse> Call(v1::ReadEventsRequest request) override {
    v1::ReadEventsResponse page;
    for (const v1::SessionEvent& event : log) {
      if (event.seq() > request.after_seq()) *page.add_events() = event;
    }
    co_return page;
  }
  void Record(v1::SessionEvent event) {
    event.set_seq(static_cast<int64_t>(log.size()) + 1);
    event.mutable_time()->set_seconds(1);
    log.push_back(std::move(event));
  }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const v1::SessionEvent& event : log) texts.push_back(MemberOf(event, "text"));
    return texts;
  }

  Result<v1::AgentState> Call(v1::SetAgentStateRequest request) override {
    states.push_back(std::move(request));
    if (is_away) co_return absl::UnavailableError("connection lost");
    const v1::AgentStatus before = std::exchange(status_, states.back().status());
    if (status_ == v1::AGENT_STATUS_FAILED && before != status_ && starts.size() == ends.size()) {
      pauses.push_back(states.back().reason());
    }
    co_return v1::AgentState();
  }
  Result<v1::AnswerControlResponse> Call(v1::AnswerControlRequest request) override {
    controls.push_back(std::move(request));
    co_return v1::AnswerControlResponse();
  }
  Result<v1::ReleaseSessionResponse> Call(v1::ReleaseSessionRequest) override {
    return None<v1::ReleaseSessionResponse>();
  }
  Result<v1::IssueSessionTokenResponse> Call(v1::IssueSessionTokenRequest) override {
    ++tokens;
    if (is_away) co_return absl::UnavailableError("connection lost");
    co_return v1::IssueSessionTokenResponse();
  }
  Result<v1::StartTurnResponse> Call(v1::StartTurnRequest request) override {
    if (is_away) co_return absl::UnavailableError("connection lost");
    starts.push_back(request);
    v1::StartTurnResponse response;
    response.set_turn_id(request.turn_id().empty() ? absl::StrCat("own-", starts.size())
                                                   : request.turn_id());
    response.set_seq(static_cast<int64_t>(log.size()));
    response.set_next_iteration(static_cast<int64_t>(starts.size()));
    co_return response;
  }
  Result<v1::QueueStatus> Call(v1::FinishTurnRequest request) override {
    ends.push_back(std::move(request));
    co_return v1::QueueStatus();
  }
  Result<v1::GetImageResponse> Call(v1::GetImageRequest) override {
    if (!image.has_value()) return None<v1::GetImageResponse>();
    return Some(*image);
  }
  Result<v1::Permission> Call(v1::AskPermissionRequest request) override {
    asked.push_back(request);
    if (answers.empty()) co_return absl::UnimplementedError("not here");
    absl::StatusOr<v1::Permission> answer = std::move(answers.front());
    answers.pop_front();
    co_return answer;
  }
  Result<v1::ListPermissionsResponse> Call(v1::CancelPermissionsRequest request) override {
    withdrawn.push_back(request.permission_id());
    co_return v1::ListPermissionsResponse();
  }
  Stream<v1::Assignment> Open(v1::ServeRequest) override { return nullptr; }
  Stream<v1::ReceivedMessage> Open(v1::ReceiveMessagesRequest) override {
    return std::make_unique<Messages>(this);
  }
  // To whoever receives messages.
  void Send(v1::ReceivedMessage message) {
    messages_.push_back(std::move(message));
    if (more_.has_value()) more_->Set(true);
  }

  std::deque<How> next;
  std::string refused = "bad";  // What has it in it is no event.
  std::vector<v1::SessionEvent> log;
  std::deque<absl::StatusOr<v1::Permission>> answers;  // To what is asked.
  std::vector<v1::AskPermissionRequest> asked;
  std::vector<std::string> withdrawn;  // The ids of questions.
  std::vector<v1::SetAgentStateRequest> states;
  std::vector<v1::AnswerControlRequest> controls;
  std::vector<v1::StartTurnRequest> starts;
  std::vector<v1::FinishTurnRequest> ends;
  std::vector<std::string> pauses;            // Why the queue was paused, as an agent has failed.
  std::optional<v1::GetImageResponse> image;  // That is there, whichever is asked for.
  int tokens = 0;                             // That were asked for.
  bool is_away = false;  // For those, for who tells how an agent is, and who starts a turn.
  int appends = 0;
  int64_t lease = 0;  // Of the last call.

 private:
  class Messages final : public MessageStream<v1::ReceivedMessage> {
   public:
    explicit Messages(FakeTracker* tracker) : tracker_(tracker) {}
    boost::asio::awaitable<absl::StatusOr<std::optional<v1::ReceivedMessage>>> Next() override {
      while (tracker_->messages_.empty()) {
        tracker_->more_.emplace(co_await boost::asio::this_coro::executor);
        co_await tracker_->more_->Get();
      }
      std::optional<v1::ReceivedMessage> next = std::move(tracker_->messages_.front());
      tracker_->messages_.pop_front();
      co_return next;
    }

   private:
    FakeTracker* const tracker_;
  };

  v1::AgentStatus status_ = v1::AGENT_STATUS_UNSPECIFIED;
  std::deque<v1::ReceivedMessage> messages_;
  std::optional<Later<bool>> more_;

  template <typename T>
  static Result<T> None() {
    co_return absl::UnimplementedError("not here");
  }
  template <typename T>
  static Result<T> Some(T answer) {
    co_return answer;
  }
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_FAKE_TRACKER_H_
