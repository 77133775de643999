// Streams over a real connection with gRPC's own client: order, completeness, and callers that read
// slowly or disconnect.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tracker/server/async_server_test_fixture.h"

namespace callslip::tracker {
namespace {

using AsyncServerStreamsTest = AsyncServerTest;

TEST_F(AsyncServerStreamsTest, MessagesOfManyWakersArriveCompleteAndInOrder) {
  constexpr int kWakers = 4;
  constexpr int kMessages = 500;
  const auto reader = Listen();
  const auto stream = listener_.Take();
  std::atomic<int> left{kWakers * kMessages};
  // Counts the messages to send instead of storing them: the source makes the order.
  std::atomic<int> pending{0};
  int sent = 0;
  std::atomic<int> asking{0};
  stream->SetSource([&]() -> std::optional<Outgoing<EchoMessage>> {
    EXPECT_EQ(asking.fetch_add(1), 0);
    const bool any = pending.load() > 0;
    if (any) --pending;
    asking.fetch_sub(1);
    if (!any) return std::nullopt;
    return Numbered(++sent);
  });
  std::vector<std::thread> wakers;
  for (int i = 0; i < kWakers; ++i) {
    wakers.emplace_back([&] {
      for (int j = 0; j < kMessages; ++j) {
        ++pending;
        stream->Wake();
        if (--left == 0) stream->Finish(absl::OkStatus());
      }
    });
  }
  EchoMessage message;
  for (int i = 1; i <= kWakers * kMessages; ++i) {
    ASSERT_TRUE(reader->Read(&message));
    ASSERT_EQ(message.number(), i);
  }
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_TRUE(reader->Finish().ok());
  for (std::thread& waker : wakers) waker.join();
}

TEST_F(AsyncServerStreamsTest, SourceIsAskedOnlyWhenTheStreamCanSendMore) {
  const auto reader = Converse();
  const auto stream = conversation_.Take();
  std::atomic<int> asked{0};
  std::atomic<int> latest{0};
  int sent = -1;
  stream->SetSource([&]() -> std::optional<Outgoing<EchoMessage>> {
    ++asked;
    if (sent == latest) return std::nullopt;
    sent = latest;
    return Numbered(sent, sent == 0 ? kTooMuch : 0);
  });
  stream->Wake();
  for (int i = 1; i <= 100; ++i) {
    latest = i;
    stream->Wake();
  }
  EXPECT_EQ(asked, 1);
  EchoMessage message;
  ASSERT_TRUE(reader->Read(&message));
  EXPECT_EQ(message.number(), 0);
  ASSERT_TRUE(reader->Read(&message));
  EXPECT_EQ(message.number(), 100);
  stream->Finish(absl::OkStatus());
  EXPECT_FALSE(reader->Read(&message));
}

TEST_F(AsyncServerStreamsTest, FinishFollowsAllMessages) {
  const auto reader = Listen();
  const auto stream = listener_.Take();
  Outbox outbox;
  stream->SetSource([&] { return outbox.Pop(); });
  for (int i = 1; i <= 3; ++i) outbox.Push(Numbered(i));
  stream->Finish(absl::OkStatus());
  stream->Finish(absl::InternalError("too late"));
  EchoMessage message;
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(reader->Read(&message));
    EXPECT_EQ(message.number(), i);
  }
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(AsyncServerStreamsTest, FinishWithAnErrorFollowsAllMessages) {
  const auto reader = Listen();
  const auto stream = listener_.Take();
  Outbox outbox;
  stream->SetSource([&] { return outbox.Pop(); });
  outbox.Push(Numbered(1));
  stream->Wake();
  outbox.Push(Numbered(2));
  stream->Finish(absl::AbortedError("enough"));
  EchoMessage message;
  EXPECT_TRUE(reader->Read(&message));
  EXPECT_TRUE(reader->Read(&message));
  EXPECT_FALSE(reader->Read(&message));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(status.error_message(), "enough");
}

TEST_F(AsyncServerStreamsTest, FinishNeedsNoSource) {
  const auto reader = Listen();
  const auto stream = listener_.Take();
  stream->Wake();
  stream->Finish(absl::NotFoundError("nothing here"));
  EchoMessage message;
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(AsyncServerStreamsTest, EndedStreamDestroysItsSource) {
  const auto reader = Listen();
  const auto stream = listener_.Take();
  Notification dropped;
  // Holds the stream, as sources may.
  stream->SetSource([stream, sentinel = std::make_shared<Sentinel>(&dropped)] {
    return std::optional<Outgoing<EchoMessage>>();
  });
  stream->Finish(absl::OkStatus());
  dropped.Wait();
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(AsyncServerStreamsTest, PendingMessageAndSourceAreDroppedWhenCallerLeaves) {
  const auto reader = Converse();
  auto stream = conversation_.Take();
  Notification under_way;
  Notification lost;
  Notification dropped;
  Notification left;
  stream->SetSource([&, stream, sentinel = std::make_shared<Sentinel>(&dropped)]() mutable
                    -> std::optional<Outgoing<EchoMessage>> {
    under_way.Notify();
    Outgoing<EchoMessage> next = Numbered(0, kTooMuch);
    next.if_lost = [&] { lost.Notify(); };
    return next;
  });
  stream->OnCallerLeft([&] { left.Notify(); });
  stream->Wake();
  under_way.Wait();
  context_.TryCancel();
  lost.Wait();
  dropped.Wait();
  left.Wait();
  // These calls have no effect any more.
  stream->Wake();
  stream->Finish(absl::OkStatus());
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(AsyncServerStreamsTest, IdleStreamIsFreedWhenItsCallerLeaves) {
  const auto reader = Listen();
  auto stream = listener_.Take();
  const std::weak_ptr<EchoStream> held = stream;
  Notification dropped;
  Notification left;
  stream->SetSource([stream, sentinel = std::make_shared<Sentinel>(&dropped)] {
    return std::optional<Outgoing<EchoMessage>>();
  });
  stream->OnCallerLeft([&left, stream] { left.Notify(); });
  stream = nullptr;
  EXPECT_FALSE(held.expired());
  context_.TryCancel();
  left.Wait();
  dropped.Wait();
  server_.Stop(absl::InfiniteDuration());
  EXPECT_TRUE(held.expired());
}

TEST_F(AsyncServerStreamsTest, CallerThatHasLeftIsNoticedAtOnce) {
  const auto reader = Listen();
  const auto stream = listener_.Take();
  context_.TryCancel();
  Notification dropped;
  stream->SetSource([sentinel = std::make_shared<Sentinel>(&dropped)] {
    return std::optional<Outgoing<EchoMessage>>();
  });
  dropped.Wait();
  bool left = false;
  stream->OnCallerLeft([&left] { left = true; });
  // The source is destroyed before the action, which may still run on another thread. After Stop()
  // no call runs on any thread.
  server_.Stop(absl::ZeroDuration());
  EXPECT_TRUE(left);
}

TEST_F(AsyncServerStreamsTest, CallerThatGetsItsStatusIsNotReportedAsLeft) {
  const auto reader = Listen();
  auto stream = listener_.Take();
  bool left = false;
  stream->OnCallerLeft([&left] { left = true; });
  stream->Finish(absl::OkStatus());
  stream = nullptr;
  EXPECT_TRUE(reader->Finish().ok());
  server_.Stop(absl::InfiniteDuration());
  EXPECT_FALSE(left);
}

TEST_F(AsyncServerStreamsTest, RequestsArriveInOrderUntilTheCallerHalfCloses) {
  constexpr int kRequests = 200;
  const auto client = Converse();
  const auto stream = conversation_.Take();
  std::vector<int64_t> received;
  Notification done;
  Outbox outbox;
  stream->SetSource([&] { return outbox.Pop(); });
  stream->SetReceiver([&](const EchoMessage& request) { received.push_back(request.number()); },
                      [&] { done.Notify(); });
  std::vector<int64_t> sent;
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_TRUE(client->Write(Numbered(i).message));
    sent.push_back(i);
  }
  client->WritesDone();
  done.Wait();
  EXPECT_EQ(received, sent);

  // The other direction is still open.
  EchoMessage message;
  for (const int number : {1, 2}) {
    outbox.Push(Numbered(number));
    stream->Wake();
    ASSERT_TRUE(client->Read(&message));
    EXPECT_EQ(message.number(), number);
  }
  stream->Finish(absl::OkStatus());
  EXPECT_FALSE(client->Read(&message));
  EXPECT_TRUE(client->Finish().ok());
}

TEST_F(AsyncServerStreamsTest, ReceiverCanAnswerRequestsDirectly) {
  const auto client = Converse();
  auto stream = conversation_.Take();
  const std::weak_ptr<EchoDuplex> held = stream;
  Outbox outbox;
  stream->SetSource([&] { return outbox.Pop(); });
  stream->SetReceiver(
      [&outbox, stream](const EchoMessage& request) {
        outbox.Push({.message = request});
        stream->Wake();
      },
      [stream] { stream->Finish(absl::OkStatus()); });
  stream = nullptr;
  EchoMessage message;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client->Write(Numbered(i).message));
    ASSERT_TRUE(client->Read(&message));
    EXPECT_EQ(message.number(), i);
  }
  client->WritesDone();
  EXPECT_FALSE(client->Read(&message));
  EXPECT_TRUE(client->Finish().ok());
  server_.Stop(absl::InfiniteDuration());
  EXPECT_TRUE(held.expired());
}

TEST_F(AsyncServerStreamsTest, NextRequestIsReadOnceThePreviousOneIsHandled) {
  const auto client = Converse();
  const auto stream = conversation_.Take();
  Notification first;
  Notification go_on;
  std::atomic<int> in_hand{0};
  std::atomic<int> received{0};
  Notification done;
  stream->SetReceiver(
      [&](const EchoMessage&) {
        EXPECT_EQ(in_hand.fetch_add(1), 0);
        if (received.fetch_add(1) == 0) {
          first.Notify();
          go_on.Wait();
        }
        in_hand.fetch_sub(1);
      },
      [&] { done.Notify(); });
  ASSERT_TRUE(client->Write({}));
  first.Wait();
  ASSERT_TRUE(client->Write({}));
  client->WritesDone();
  EXPECT_EQ(received, 1);
  go_on.Notify();
  done.Wait();
  EXPECT_EQ(received, 2);
  stream->Finish(absl::OkStatus());
  EXPECT_TRUE(client->Finish().ok());
}

TEST_F(AsyncServerStreamsTest, LeavingIsNotReportedAsHalfClose) {
  const auto client = Converse();
  auto stream = conversation_.Take();
  const std::weak_ptr<EchoDuplex> held = stream;
  Notification left;
  Notification dropped;
  std::atomic<bool> half_closed{false};
  stream->OnCallerLeft([&] { left.Notify(); });
  stream->SetReceiver(
      [stream](const EchoMessage&) {},
      [&half_closed, sentinel = std::make_shared<Sentinel>(&dropped)] { half_closed = true; });
  stream = nullptr;
  context_.TryCancel();
  left.Wait();
  dropped.Wait();
  EXPECT_FALSE(half_closed);
  server_.Stop(absl::InfiniteDuration());
  EXPECT_TRUE(held.expired());
}

TEST_F(AsyncServerStreamsTest, EndByTheServerIsNotReportedAsHalfClose) {
  const auto client = Converse();
  const auto stream = conversation_.Take();
  Notification dropped;
  std::atomic<bool> half_closed{false};
  stream->SetReceiver(
      [](const EchoMessage&) {},
      [&half_closed, sentinel = std::make_shared<Sentinel>(&dropped)] { half_closed = true; });
  stream->Finish(absl::OkStatus());
  EXPECT_TRUE(client->Finish().ok());
  dropped.Wait();
  EXPECT_FALSE(half_closed);
}

}  // namespace
}  // namespace callslip::tracker
