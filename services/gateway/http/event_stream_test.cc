#include "gateway/http/event_stream.h"

#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/fake_body_writer.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using ::testing::HasSubstr;

using StreamPtr = std::shared_ptr<EventStream>;

class EventStreamTest : public testing::Test {
 protected:
  void Serve(EventStream::Producer producer,
             std::chrono::milliseconds keep_alive = std::chrono::hours(1)) {
    response_ = EventStream::Response(io_.get_executor(), std::move(producer), keep_alive);
    asio::co_spawn(io_, response_.stream(writer_), [this](const std::exception_ptr& error) {
      ended_ = true;
      failed_ = error != nullptr;
    });
  }

  // Runs all handlers that are ready.
  void Run() {
    io_.restart();
    io_.poll();
  }

  static asio::awaitable<void> WaitForever(StreamPtr) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer never(executor, asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
  }

  asio::io_context io_;
  FakeBodyWriter writer_{io_};
  HttpResponse response_;
  bool ended_ = false;
  bool failed_ = false;
};

TEST_F(EventStreamTest, EventsAreSentWithTheirIds) {
  Serve([](StreamPtr stream) -> asio::awaitable<void> {
    std::string first = ServerSentEvent("one", 7);
    co_await stream->Send(std::move(first));
    std::string second = ServerSentEvent("two");
    co_await stream->Send(std::move(second));
  });
  Run();
  EXPECT_EQ(response_.content_type, "text/event-stream");
  EXPECT_EQ(writer_.written, ": connected\n\nid: 7\ndata: one\n\ndata: two\n\n");
  EXPECT_TRUE(ended_);
  EXPECT_FALSE(failed_);
}

TEST_F(EventStreamTest, KeepAlivesAreSentDuringSilence) {
  Serve(&WaitForever, std::chrono::milliseconds(1));
  const std::string twice = ": connected\n\n: keep-alive\n\n: keep-alive\n\n";
  while (writer_.written.size() < twice.size()) io_.run_one();
  EXPECT_EQ(writer_.written.substr(0, twice.size()), twice);
  writer_.Leave();
  while (!ended_) io_.run_one();
}

TEST_F(EventStreamTest, ProducerWaitsForPeerThatDoesNotRead) {
  int sent = 0;
  Serve([&sent](StreamPtr stream) -> asio::awaitable<void> {
    for (; sent < 10; ++sent) {
      std::string event(100 << 10, 'x');
      co_await stream->Send(std::move(event));
    }
  });
  writer_.blocked = true;
  Run();
  EXPECT_EQ(sent, 2);
  writer_.Unblock();
  Run();
  EXPECT_EQ(sent, 10);
  EXPECT_TRUE(ended_);
  EXPECT_EQ(writer_.written.size(), std::string(": connected\n\n").size() + (1000 << 10));
}

TEST_F(EventStreamTest, StreamFailsWhenThereIsNoRoomForWaitingEvents) {
  writer_.blocked = true;
  writer_.most_held = 1000;
  int sent = 0;
  Serve([&](StreamPtr stream) -> asio::awaitable<void> {
    for (; sent < 10; ++sent) co_await stream->Send(std::string(400, 'x'));
  });
  Run();
  EXPECT_EQ(sent, 2);
  EXPECT_EQ(writer_.held, 0u);
  writer_.Unblock();
  Run();
  EXPECT_TRUE(ended_ && failed_);
}

TEST_F(EventStreamTest, ProducerIsCancelledWhenItsPeerLeaves) {
  bool cancelled = false;
  Serve(
      [&cancelled](StreamPtr stream) -> asio::awaitable<void> {
        try {
          co_await WaitForever(std::move(stream));
        } catch (const boost::system::system_error& error) {
          cancelled = error.code() == asio::error::operation_aborted;
          throw;
        }
      },
      std::chrono::milliseconds(1));
  Run();
  writer_.Leave();
  while (!cancelled) io_.run_one();
  EXPECT_TRUE(failed_);
}

TEST_F(EventStreamTest, StreamFailsWhenProducerThrows) {
  Serve([](StreamPtr stream) -> asio::awaitable<void> {
    std::string event = ServerSentEvent("last");
    co_await stream->Send(std::move(event));
    throw std::runtime_error("broken");
  });
  Run();
  EXPECT_THAT(writer_.written, HasSubstr("data: last\n\n"));
  EXPECT_TRUE(failed_);
}

}  // namespace
}  // namespace callslip::gateway
