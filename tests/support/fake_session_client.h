#ifndef CALLSLIP_TESTS_SUPPORT_FAKE_SESSION_CLIENT_H_
#define CALLSLIP_TESTS_SUPPORT_FAKE_SESSION_CLIENT_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gateway/tracker_client/session_client.h"

namespace callslip::gateway {

// Sessions as the test has them: each call is answered by what was set with On(), and UNIMPLEMENTED
// without it; each stream sends what the test pushes.
class FakeSessionClient final : public SessionClient {
 public:
  explicit FakeSessionClient(boost::asio::any_io_executor executor)
      : executor_(std::move(executor)) {}

  template <typename Request, typename Response>
  void On(std::function<absl::StatusOr<Response>(const Request&)> answer) {
    answers_[Request::descriptor()->name()] =
        [answer = std::move(answer)](const google::protobuf::Message& request)
        -> absl::StatusOr<std::shared_ptr<google::protobuf::Message>> {
      auto response = answer(static_cast<const Request&>(request));
      if (!response.ok()) return response.status();
      return std::make_shared<Response>(*std::move(response));
    };
  }

  // One stream that was opened.
  template <typename Message>
  struct Opened {
    explicit Opened(boost::asio::any_io_executor executor)
        : changed(std::move(executor), boost::asio::steady_timer::time_point::max()) {}

    void Push(Message message) {
      messages.push_back(std::move(message));
      changed.cancel();
    }
    void End(absl::Status why) {
      end = std::move(why);
      changed.cancel();
    }

    std::deque<Message> messages;
    std::optional<absl::Status> end;
    bool left = false;  // By its reader.
    boost::asio::steady_timer changed;
  };

  // With the requests that have opened them, in their order.
  std::vector<std::pair<v1::WatchSessionRequest, std::shared_ptr<Opened<v1::SessionUpdate>>>>
      watches;
  v1::SessionUpdate snapshot = Snapshot();  // The first message of those that are opened.
  std::vector<std::shared_ptr<Opened<v1::SessionNotice>>> global_watches;
  std::vector<v1::WatchSessionsRequest> global_requests;  // Which have opened these.
  std::vector<std::shared_ptr<Opened<v1::SessionEvent>>> plays;
  std::vector<std::shared_ptr<Opened<v1::ReceivedMessage>>> receivers;

  Result<v1::Session> Call(v1::CreateSessionRequest request) override {
    return Answer<v1::Session>(std::move(request));
  }
  Result<v1::ImageRef> Call(v1::PutImageRequest request) override {
    return Answer<v1::ImageRef>(std::move(request));
  }
  Result<v1::GetImageResponse> Call(v1::GetImageRequest request) override {
    return Answer<v1::GetImageResponse>(std::move(request));
  }
  Result<v1::Session> Call(v1::GetSessionRequest request) override {
    return Answer<v1::Session>(std::move(request));
  }
  Result<v1::ListSessionsResponse> Call(v1::ListSessionsRequest request) override {
    return Answer<v1::ListSessionsResponse>(std::move(request));
  }
  Result<v1::Session> Call(v1::UpdateSessionRequest request) override {
    return Answer<v1::Session>(std::move(request));
  }
  Result<v1::Session> Call(v1::EndSessionRequest request) override {
    return Answer<v1::Session>(std::move(request));
  }
  Result<v1::Session> Call(v1::ResumeSessionRequest request) override {
    return Answer<v1::Session>(std::move(request));
  }
  Result<v1::DeleteSessionResponse> Call(v1::DeleteSessionRequest request) override {
    return Answer<v1::DeleteSessionResponse>(std::move(request));
  }
  Result<v1::AppendEventsResponse> Call(v1::AppendEventsRequest request) override {
    return Answer<v1::AppendEventsResponse>(std::move(request));
  }
  Result<v1::ReadEventsResponse> Call(v1::ReadEventsRequest request) override {
    return Answer<v1::ReadEventsResponse>(std::move(request));
  }
  Result<v1::Player> Call(v1::OpenPlayerRequest request) override {
    return Answer<v1::Player>(std::move(request));
  }
  Result<v1::MovePlayerResponse> Call(v1::MovePlayerRequest request) override {
    return Answer<v1::MovePlayerResponse>(std::move(request));
  }
  Result<v1::ClosePlayerResponse> Call(v1::ClosePlayerRequest request) override {
    return Answer<v1::ClosePlayerResponse>(std::move(request));
  }
  Result<v1::AddAgentTextResponse> Call(v1::AddAgentTextRequest request) override {
    return Answer<v1::AddAgentTextResponse>(std::move(request));
  }
  Result<v1::Permission> Call(v1::AskPermissionRequest request) override {
    return Answer<v1::Permission>(std::move(request));
  }
  Result<v1::Permission> Call(v1::AnswerPermissionRequest request) override {
    return Answer<v1::Permission>(std::move(request));
  }
  Result<v1::ListPermissionsResponse> Call(v1::ListPermissionsRequest request) override {
    return Answer<v1::ListPermissionsResponse>(std::move(request));
  }
  Result<v1::ListPermissionsResponse> Call(v1::CancelPermissionsRequest request) override {
    return Answer<v1::ListPermissionsResponse>(std::move(request));
  }
  Result<v1::QueuedMessage> Call(v1::AddMessageRequest request) override {
    return Answer<v1::QueuedMessage>(std::move(request));
  }
  Result<v1::QueuedMessage> Call(v1::GetMessageRequest request) override {
    return Answer<v1::QueuedMessage>(std::move(request));
  }
  Result<v1::ListMessagesResponse> Call(v1::ListMessagesRequest request) override {
    return Answer<v1::ListMessagesResponse>(std::move(request));
  }
  Result<v1::QueuedMessage> Call(v1::EditMessageRequest request) override {
    return Answer<v1::QueuedMessage>(std::move(request));
  }
  Result<v1::ListMessagesResponse> Call(v1::MoveMessageRequest request) override {
    return Answer<v1::ListMessagesResponse>(std::move(request));
  }
  Result<v1::QueuedMessage> Call(v1::PopMessageRequest request) override {
    return Answer<v1::QueuedMessage>(std::move(request));
  }
  Result<v1::DeleteMessageResponse> Call(v1::DeleteMessageRequest request) override {
    return Answer<v1::DeleteMessageResponse>(std::move(request));
  }
  Result<v1::ClearMessagesResponse> Call(v1::ClearMessagesRequest request) override {
    return Answer<v1::ClearMessagesResponse>(std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::GetQueueStatusRequest request) override {
    return Answer<v1::QueueStatus>(std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::ConfigureQueueRequest request) override {
    return Answer<v1::QueueStatus>(std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::PauseQueueRequest request) override {
    return Answer<v1::QueueStatus>(std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::ResumeQueueRequest request) override {
    return Answer<v1::QueueStatus>(std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::StopTurnRequest request) override {
    return Answer<v1::QueueStatus>(std::move(request));
  }
  Result<v1::StartTurnResponse> Call(v1::StartTurnRequest request) override {
    return Answer<v1::StartTurnResponse>(std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::FinishTurnRequest request) override {
    return Answer<v1::QueueStatus>(std::move(request));
  }

  Result<v1::ListRunnersResponse> Call(v1::ListRunnersRequest request) override {
    return Answer<v1::ListRunnersResponse>(std::move(request));
  }
  Result<v1::AgentState> Call(v1::ControlAgentRequest request) override {
    return Answer<v1::AgentState>(std::move(request));
  }
  Result<v1::FindSessionTokenResponse> Call(v1::FindSessionTokenRequest request) override {
    return Answer<v1::FindSessionTokenResponse>(std::move(request));
  }

  Stream<v1::SessionUpdate> Open(v1::WatchSessionRequest request) override {
    watches.emplace_back(std::move(request), New<v1::SessionUpdate>());
    watches.back().second->Push(snapshot);
    return Read(watches.back().second);
  }
  Stream<v1::SessionNotice> Open(v1::WatchSessionsRequest request) override {
    global_requests.push_back(std::move(request));
    global_watches.push_back(New<v1::SessionNotice>());
    return Read(global_watches.back());
  }
  Stream<v1::SessionEvent> Open(v1::PlayRequest) override {
    plays.push_back(New<v1::SessionEvent>());
    return Read(plays.back());
  }
  Stream<v1::ReceivedMessage> Open(v1::ReceiveMessagesRequest) override {
    receivers.push_back(New<v1::ReceivedMessage>());
    return Read(receivers.back());
  }

  void EndCalls() override {}

 private:
  static v1::SessionUpdate Snapshot() {
    v1::SessionUpdate empty;
    empty.mutable_snapshot();
    return empty;
  }

  template <typename Message>
  class Reader final : public MessageStream<Message> {
   public:
    explicit Reader(std::shared_ptr<Opened<Message>> opened) : opened_(std::move(opened)) {}
    ~Reader() override { opened_->left = true; }

    boost::asio::awaitable<absl::StatusOr<std::optional<Message>>> Next() override {
      while (opened_->messages.empty() && !opened_->end.has_value()) {
        co_await opened_->changed.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      }
      if (!opened_->messages.empty()) {
        std::optional<Message> message = std::move(opened_->messages.front());
        opened_->messages.pop_front();
        co_return message;
      }
      if (!opened_->end->ok()) co_return *opened_->end;
      co_return std::optional<Message>();
    }

   private:
    const std::shared_ptr<Opened<Message>> opened_;
  };

  template <typename Message>
  std::shared_ptr<Opened<Message>> New() {
    return std::make_shared<Opened<Message>>(executor_);
  }
  template <typename Message>
  Stream<Message> Read(std::shared_ptr<Opened<Message>> opened) {
    return std::make_unique<Reader<Message>>(std::move(opened));
  }

  template <typename Response, typename Request>
  Result<Response> Answer(Request request) {
    const auto executor = co_await boost::asio::this_coro::executor;
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
    const auto answer = answers_.find(Request::descriptor()->name());
    if (answer == answers_.end()) co_return absl::UnimplementedError("the test does not answer it");
    const auto response = answer->second(request);
    if (!response.ok()) co_return response.status();
    co_return static_cast<const Response&>(**response);
  }

  const boost::asio::any_io_executor executor_;
  std::map<std::string, std::function<absl::StatusOr<std::shared_ptr<google::protobuf::Message>>(
                            const google::protobuf::Message&)>>
      answers_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_TESTS_SUPPORT_FAKE_SESSION_CLIENT_H_
