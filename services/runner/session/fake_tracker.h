#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/this_coro.hpp"
#include "common/error_details.h"
#include "rpc_client/promise.h"
#include "rpc_client/traced_executor.h"
#include "rpc_client/tracker_calls.h"
#include "support/call_answers.h"
#include "support/session_events.h"

namespace callslip::runner {

// A tracker with the log of one session. Answers each append as the test specifies, and stores the
// other requests.
class FakeTracker final : public TrackerCalls, public CallAnswers {
 public:
  enum class How { kRecord, kLoseCall, kLoseAnswer, kRefuse, kBreak };

  FakeTracker() {
    On<v1::AppendEventsRequest>([this](const auto& request) { return Append(request); });
    On<v1::ReadEventsRequest>([this](const v1::ReadEventsRequest& request) {
      v1::ReadEventsResponse page;
      for (const v1::SessionEvent& event : log) {
        if (event.seq() > request.after_seq()) *page.add_events() = event;
      }
      return page;
    });
    On<v1::SetAgentStateRequest>([this](const auto& request) { return SetState(request); });
    On<v1::AnswerControlRequest>([this](const v1::AnswerControlRequest& request) {
      controls.push_back(request);
      return v1::AnswerControlResponse();
    });
    On<v1::IssueSessionTokenRequest>(
        [this](const auto&) -> absl::StatusOr<v1::IssueSessionTokenResponse> {
          ++tokens;
          if (is_away) return absl::UnavailableError("connection lost");
          return v1::IssueSessionTokenResponse();
        });
    On<v1::StartTurnRequest>([this](const auto& request) { return StartTurn(request); });
    On<v1::FinishTurnRequest>([this](const v1::FinishTurnRequest& request) {
      ends.push_back(request);
      return v1::QueueStatus();
    });
    On<v1::GetImageRequest>([this](const auto&) -> absl::StatusOr<v1::GetImageResponse> {
      if (!image.has_value()) return absl::UnimplementedError("not here");
      return *image;
    });
    On<v1::AskPermissionRequest>(
        [this](const v1::AskPermissionRequest& request) -> absl::StatusOr<v1::Permission> {
          asked.push_back(request);
          if (answers.empty()) return absl::UnimplementedError("not here");
          absl::StatusOr<v1::Permission> answer = std::move(answers.front());
          answers.pop_front();
          return answer;
        });
    On<v1::CancelPermissionsRequest>([this](const v1::CancelPermissionsRequest& request) {
      withdrawn.push_back(request.permission_id());
      return v1::ListPermissionsResponse();
    });
  }

  void EndCalls() override {}

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

  // Sends a message to the receiver of messages.
  void Send(v1::ReceivedMessage message) {
    messages_.push_back(std::move(message));
    if (more_.has_value()) more_->Set(true);
  }

  std::deque<How> next;
  std::string refused = "bad";  // Rejects events whose text contains this.
  std::vector<v1::SessionEvent> log;
  std::deque<absl::StatusOr<v1::Permission>> answers;  // For AskPermission.
  std::vector<v1::AskPermissionRequest> asked;
  std::vector<std::string> withdrawn;  // Permission ids of withdrawn questions.
  std::vector<v1::SetAgentStateRequest> states;
  std::vector<v1::AnswerControlRequest> controls;
  std::vector<v1::StartTurnRequest> starts;
  std::vector<v1::FinishTurnRequest> ends;
  std::map<std::string, TraceContext> traces;  // Of the last call, by the name of the method.
  std::vector<std::string> pauses;             // Reasons of agent failures that paused the queue.
  std::optional<v1::GetImageResponse> image;   // Returned for every image id.
  int tokens = 0;                              // Number of requested tokens.
  bool is_away = false;  // Fails token requests, agent states and turn starts.
  int appends = 0;
  int64_t lease = 0;  // Of the last append.

 protected:
  boost::asio::awaitable<absl::Status> Send(const google::protobuf::MethodDescriptor& method,
                                            const google::protobuf::Message& request,
                                            CallOptions options,
                                            google::protobuf::Message* response) override {
    traces[method.name()] = TracedExecutor::TraceOf(co_await boost::asio::this_coro::executor);
    co_return Answer(request, options, response);
  }
  // Only messages can be received.
  std::unique_ptr<MessageSource> Begin(const google::protobuf::MethodDescriptor&,
                                       const google::protobuf::Message&) override {
    return std::make_unique<Messages>(this);
  }

 private:
  class Messages final : public MessageSource {
   public:
    explicit Messages(FakeTracker* tracker) : tracker_(tracker) {}
    boost::asio::awaitable<absl::StatusOr<bool>> Next(google::protobuf::Message* message) override {
      while (tracker_->messages_.empty()) {
        tracker_->more_.emplace(co_await boost::asio::this_coro::executor);
        co_await tracker_->more_->Get();
      }
      message->CopyFrom(tracker_->messages_.front());
      tracker_->messages_.pop_front();
      co_return true;
    }

   private:
    FakeTracker* const tracker_;
  };

  absl::StatusOr<v1::AppendEventsResponse> Append(const v1::AppendEventsRequest& request) {
    ++appends;
    lease = request.lease();
    const How how = next.empty() ? How::kRecord : next.front();
    if (!next.empty()) next.pop_front();
    if (how == How::kRefuse) {
      return ErrorWithDetails(absl::StatusCode::kFailedPrecondition, "over",
                              {.reason = "session_ended"});
    }
    if (!v1::AppendEventsRequest().ParseFromString(request.SerializeAsString())) {
      return absl::InternalError("the request has bytes that are no UTF-8");
    }
    if (how == How::kBreak) return absl::InternalError("the request can't be read");
    for (const v1::SessionEvent& event : request.events()) {
      if (MemberOf(event, "text").find(refused) == std::string::npos) continue;
      return ErrorWithDetails(absl::StatusCode::kInvalidArgument, "text is too bad",
                              {.reason = "invalid_argument"});
    }
    v1::AppendEventsResponse response;
    response.set_first_seq(static_cast<int64_t>(log.size()) + 1);
    if (how != How::kLoseCall) {
      for (const v1::SessionEvent& event : request.events()) Record(event);
    }
    response.set_last_seq(static_cast<int64_t>(log.size()));
    if (how != How::kRecord) return absl::UnavailableError("connection lost");
    return response;
  }

  absl::StatusOr<v1::AgentState> SetState(const v1::SetAgentStateRequest& request) {
    states.push_back(request);
    if (is_away) return absl::UnavailableError("connection lost");
    const v1::AgentStatus before = std::exchange(status_, request.status());
    if (status_ == v1::AGENT_STATUS_FAILED && before != status_ && starts.size() == ends.size()) {
      pauses.push_back(request.reason());
    }
    return v1::AgentState();
  }

  absl::StatusOr<v1::StartTurnResponse> StartTurn(const v1::StartTurnRequest& request) {
    if (is_away) return absl::UnavailableError("connection lost");
    starts.push_back(request);
    v1::StartTurnResponse response;
    response.set_turn_id(request.turn_id().empty() ? absl::StrCat("own-", starts.size())
                                                   : request.turn_id());
    response.set_seq(static_cast<int64_t>(log.size()));
    response.set_next_iteration(static_cast<int64_t>(starts.size()));
    return response;
  }

  v1::AgentStatus status_ = v1::AGENT_STATUS_UNSPECIFIED;
  std::deque<v1::ReceivedMessage> messages_;
  std::optional<Promise<bool>> more_;
};

}  // namespace callslip::runner
