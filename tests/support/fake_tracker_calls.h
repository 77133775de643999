#pragma once

#include <deque>
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
#include "rpc_client/tracker_calls.h"
#include "support/call_answers.h"

namespace callslip {

// A fake tracker: On() sets the answer to each call, and each stream sends what the test pushes.
class FakeTrackerCalls final : public TrackerCalls, public CallAnswers {
 public:
  explicit FakeTrackerCalls(boost::asio::any_io_executor executor)
      : executor_(std::move(executor)) {}

  // One stream that was opened.
  struct Opened {
    explicit Opened(boost::asio::any_io_executor executor)
        : changed(std::move(executor), boost::asio::steady_timer::time_point::max()) {}

    void Push(const google::protobuf::Message& message) {
      messages.emplace_back(message.New())->CopyFrom(message);
      changed.cancel();
    }
    void End(absl::Status why) {
      end = std::move(why);
      changed.cancel();
    }

    std::deque<std::unique_ptr<google::protobuf::Message>> messages;
    std::optional<absl::Status> end;
    bool left = false;  // By its reader.
    boost::asio::steady_timer changed;
  };

  // In order of opening, with the requests.
  std::vector<std::pair<v1::WatchSessionRequest, std::shared_ptr<Opened>>> watches;
  v1::SessionUpdate snapshot = Snapshot();  // The first message of each watch.
  std::vector<std::shared_ptr<Opened>> global_watches;
  std::vector<v1::WatchSessionsRequest> global_requests;  // Those of global_watches.
  std::vector<std::shared_ptr<Opened>> plays;
  std::vector<std::shared_ptr<Opened>> receivers;

  void EndCalls() override {}

 protected:
  boost::asio::awaitable<absl::Status> Send(const google::protobuf::MethodDescriptor&,
                                            const google::protobuf::Message& request,
                                            CallOptions options,
                                            google::protobuf::Message* response) override {
    const auto executor = co_await boost::asio::this_coro::executor;
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
    co_return Answer(request, options, response);
  }

  std::unique_ptr<MessageSource> Begin(const google::protobuf::MethodDescriptor& method,
                                       const google::protobuf::Message& request) override {
    const auto opened = std::make_shared<Opened>(executor_);
    if (method.name() == "WatchSession") {
      watches.emplace_back(static_cast<const v1::WatchSessionRequest&>(request), opened);
      opened->Push(snapshot);
    } else if (method.name() == "WatchSessions") {
      global_requests.push_back(static_cast<const v1::WatchSessionsRequest&>(request));
      global_watches.push_back(opened);
    } else if (method.name() == "Play") {
      plays.push_back(opened);
    } else {
      receivers.push_back(opened);
    }
    return std::make_unique<Reader>(opened);
  }

 private:
  static v1::SessionUpdate Snapshot() {
    v1::SessionUpdate empty;
    empty.mutable_snapshot();
    return empty;
  }

  class Reader final : public MessageSource {
   public:
    explicit Reader(std::shared_ptr<Opened> opened) : opened_(std::move(opened)) {}
    ~Reader() override { opened_->left = true; }

    boost::asio::awaitable<absl::StatusOr<bool>> Next(google::protobuf::Message* message) override {
      while (opened_->messages.empty() && !opened_->end.has_value()) {
        co_await opened_->changed.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      }
      if (!opened_->messages.empty()) {
        message->CopyFrom(*opened_->messages.front());
        opened_->messages.pop_front();
        co_return true;
      }
      if (!opened_->end->ok()) co_return *opened_->end;
      co_return false;
    }

   private:
    const std::shared_ptr<Opened> opened_;
  };

  const boost::asio::any_io_executor executor_;
};

}  // namespace callslip
