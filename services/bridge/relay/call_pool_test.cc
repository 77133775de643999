#include "bridge/relay/call_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <latch>

#include "common/mutex.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

TEST(CallPoolTest, CallsRunConcurrently) {
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

TEST(CallPoolTest, KeepsReadingWhileAllThreadsAreBusy) {
  constexpr int kThreads = 3;
  Notification release;
  Notification last;
  std::atomic<int> started{0};
  int read = 0;
  const int input = open("/dev/zero", O_RDONLY);
  CallPool pool(kThreads, /*max_waits=*/1);
  pool.ReadWith(input, [&] {
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
  close(input);
}

TEST(CallPoolTest, ReadsInputWhileCallRuns) {
  int input[2];
  ASSERT_EQ(pipe(input), 0);
  Notification first_runs;
  Notification second_has_run;
  Notification end;
  CallPool pool(/*max_threads=*/2, /*max_waits=*/1);
  pool.ReadWith(input[0], [&] {
    char byte = 0;
    if (read(input[0], &byte, 1) != 1) {
      end.Notify();
      return false;
    }
    pool.Submit(/*is_wait=*/false, [&, byte] {
      if (byte == '2') return second_has_run.Notify();
      first_runs.Notify();
      second_has_run.Wait();
    });
    return true;
  });
  EXPECT_EQ(write(input[1], "1", 1), 1);
  first_runs.Wait();
  EXPECT_EQ(write(input[1], "2", 1), 1);
  second_has_run.Wait();
  close(input[1]);
  end.Wait();
  close(input[0]);
}

}  // namespace
}  // namespace callslip::bridge
