#include "rpc_client/traced_executor.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "boost/asio/awaitable.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

namespace asio = boost::asio;
using ::testing::Each;
using ::testing::SizeIs;

const TraceContext kGiven =
    *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

class TracedExecutorTest : public ::testing::Test {
 protected:
  // Notes the trace at the beginning, and after a wait.
  asio::awaitable<void> Note() {
    found_.push_back(TracedExecutor::TraceOf(co_await asio::this_coro::executor));
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(1));
    co_await timer.async_wait(asio::use_awaitable);
    found_.push_back(TracedExecutor::TraceOf(co_await asio::this_coro::executor));
  }
  asio::awaitable<void> AwaitAndSpawn() {
    co_await Note();
    asio::co_spawn(co_await asio::this_coro::executor, Note(), asio::detached);
  }

  asio::io_context io_;
  std::shared_ptr<TraceContext> trace_ = std::make_shared<TraceContext>(kGiven);
  const asio::any_io_executor traced_ = TracedExecutor(io_.get_executor(), trace_);
  std::vector<TraceContext> found_;
};

TEST_F(TracedExecutorTest, AwaitedAndSpawnedCoroutinesInheritTheTrace) {
  asio::co_spawn(traced_, AwaitAndSpawn(), asio::detached);
  io_.run();
  EXPECT_THAT(found_, SizeIs(4));
  EXPECT_THAT(found_, Each(kGiven));
}

TEST_F(TracedExecutorTest, OtherCoroutinesOfTheSameLoopHaveNoTrace) {
  asio::co_spawn(
      traced_,
      [this]() -> asio::awaitable<void> {
        asio::co_spawn(io_, Note(), asio::detached);
        co_return;
      },
      asio::detached);
  io_.run();
  EXPECT_THAT(found_, SizeIs(2));
  EXPECT_THAT(found_, Each(TraceContext()));
}

TEST_F(TracedExecutorTest, RunningCoroutinesSeeAChangedTrace) {
  const TraceContext other = kGiven.WithSpan(7);
  asio::co_spawn(
      traced_,
      [&]() -> asio::awaitable<void> {
        *trace_ = other;
        co_await Note();
      },
      asio::detached);
  io_.run();
  EXPECT_THAT(found_, Each(other));
}

TEST_F(TracedExecutorTest, InnermostExecutorDeterminesTheTrace) {
  const TraceContext inner = kGiven.WithSpan(7);
  asio::co_spawn(TracedExecutor(traced_, std::make_shared<TraceContext>(inner)), Note(),
                 asio::detached);
  io_.run();
  EXPECT_THAT(found_, Each(inner));
}

}  // namespace
}  // namespace callslip
