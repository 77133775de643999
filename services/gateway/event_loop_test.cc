#include "gateway/event_loop.h"

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "boost/asio/dispatch.hpp"
#include "boost/asio/post.hpp"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;

std::thread::id IdOf(std::promise<std::thread::id>& ran) { return ran.get_future().get(); }

TEST(EventLoopTest, IdleLoopRunsDispatchedFunctionOnCallingThread) {
  EventLoop loop;
  loop.Start();
  std::promise<std::thread::id> ran;
  asio::dispatch(loop.executor(), [&] { ran.set_value(std::this_thread::get_id()); });
  EXPECT_EQ(IdOf(ran), std::this_thread::get_id());
  loop.Stop();
}

TEST(EventLoopTest, PostedFunctionRunsOnThreadOfLoop) {
  EventLoop loop;
  loop.Start();
  std::promise<std::thread::id> first;
  std::promise<std::thread::id> second;
  asio::post(loop.executor(), [&] { first.set_value(std::this_thread::get_id()); });
  const std::thread::id thread = IdOf(first);
  EXPECT_NE(thread, std::this_thread::get_id());
  asio::post(loop.executor(), [&] { second.set_value(std::this_thread::get_id()); });
  EXPECT_EQ(IdOf(second), thread);
  loop.Stop();
}

TEST(EventLoopTest, FunctionDispatchedToBusyLoopRunsLater) {
  EventLoop loop;
  loop.Start();
  std::promise<void> began;
  std::promise<void> may_end;
  bool ended = false;
  asio::post(loop.executor(), [&] {
    began.set_value();
    may_end.get_future().wait();
    ended = true;
  });
  began.get_future().wait();
  std::promise<std::thread::id> ran;
  asio::dispatch(loop.executor(), [&] {
    EXPECT_TRUE(ended);
    ran.set_value(std::this_thread::get_id());
  });
  may_end.set_value();
  EXPECT_NE(IdOf(ran), std::this_thread::get_id());
  loop.Stop();
}

TEST(EventLoopTest, FunctionsFromManyThreadsRunOneAtATime) {
  constexpr int kThreads = 4;
  constexpr int kFunctions = 2'000;
  EventLoop loop;
  loop.Start();
  int ran = 0;  // Without a lock.
  std::promise<void> all_ran;
  const auto function = [&] {
    if (++ran == kThreads * kFunctions * 2) all_ran.set_value();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kFunctions; ++j) {
        asio::dispatch(loop.executor(), [&] {
          function();
          asio::post(loop.executor(), function);
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  all_ran.get_future().wait();
  loop.Stop();
}

TEST(EventLoopTest, FunctionRunBeforeStartDoesNotEndLoop) {
  EventLoop loop;
  bool ran = false;
  asio::dispatch(loop.executor(), [&] { ran = true; });
  EXPECT_TRUE(ran);
  loop.Start();
  std::promise<std::thread::id> posted;
  asio::post(loop.executor(), [&] { posted.set_value(std::this_thread::get_id()); });
  EXPECT_NE(IdOf(posted), std::this_thread::get_id());
  loop.Stop();
}

TEST(EventLoopTest, StopWaitsForFunctionOnAnotherThread) {
  EventLoop loop;
  loop.Start();
  std::promise<void> began;
  std::promise<void> may_end;
  std::atomic<bool> ended = false;
  std::thread other([&] {
    asio::dispatch(loop.executor(), [&] {
      began.set_value();
      may_end.get_future().wait();
      ended = true;
    });
  });
  began.get_future().wait();
  bool had_ended = false;
  std::thread stopping([&] {
    loop.Stop();
    had_ended = ended;
  });
  // A Stop() that does not wait would return during these yields.
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  may_end.set_value();
  stopping.join();
  other.join();
  EXPECT_TRUE(had_ended);
}

TEST(EventLoopTest, NothingRunsAfterStop) {
  auto held = std::make_shared<int>();
  std::atomic<int> ran = 0;
  {
    EventLoop loop;
    loop.Start();
    loop.Stop();
    asio::dispatch(loop.executor(), [&ran, held] { ++ran; });
    asio::post(loop.executor(), [&ran, held] { ++ran; });
    EXPECT_EQ(held.use_count(), 3);
  }
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(held.use_count(), 1) << "what was left undone is destroyed";
}

}  // namespace
}  // namespace callslip::gateway
