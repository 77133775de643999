#include "bridge/call_pool.h"

#include <atomic>
#include <latch>

#include "common/mutex.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

TEST(CallPoolTest, CallsRunSideBySide) {
  CallPool pool(4, 4);
  std::latch all_running(4);
  Notification release;
  for (int i = 0; i < 4; ++i) {
    pool.Submit(i % 2 == 0, [&] {
      all_running.count_down();
      release.Wait();
    });
  }
  all_running.wait();
  release.Notify();
}

TEST(CallPoolTest, WaitsLeaveRoomForOtherCalls) {
  Notification release;
  std::atomic<int> waits = 0;
  CallPool pool(3, 2);
  for (int i = 0; i < 10; ++i) {
    pool.Submit(true, [&] {
      ++waits;
      release.Wait();
    });
  }
  for (int i = 0; i < 10; ++i) {
    Notification done;
    pool.Submit(false, [&done] { done.Notify(); });
    done.Wait();
  }
  EXPECT_LE(waits, 2);
  release.Notify();
}

TEST(CallPoolTest, EveryCallRunsOnce) {
  constexpr int kCalls = 2000;
  std::atomic<int> runs = 0;
  std::latch left(kCalls);
  CallPool pool(8, 3);
  for (int i = 0; i < kCalls; ++i) {
    pool.Submit(i % 3 == 0, [&] {
      ++runs;
      left.count_down();
    });
  }
  left.wait();
  EXPECT_EQ(runs, kCalls);
}

TEST(CallPoolTest, ReadsOnWhileEverythingRuns) {
  constexpr int kThreads = 3;
  Notification release;
  Notification last;
  std::atomic<int> started{0};
  int read = 0;
  CallPool pool(kThreads, /*max_waits=*/1);
  pool.ReadWith([&] {
    if (++read <= 2 * kThreads) {
      pool.Submit(/*is_wait=*/false, [&] {
        ++started;
        release.Wait();
      });
      return true;
    }
    last.Notify();
    return false;
  });
  last.Wait();
  EXPECT_LE(started, kThreads);
  release.Notify();
  while (started < 2 * kThreads) std::this_thread::yield();
}

}  // namespace
}  // namespace callslip::bridge
