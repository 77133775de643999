#include "common/timer_thread.h"

#include <functional>
#include <vector>

#include "common/fake_clock.h"
#include "common/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

using ::testing::ElementsAre;

class TimerThreadTest : public ::testing::Test {
 protected:
  std::function<void()> Note(int what) {
    return [this, what] {
      MutexLock lock(&mutex_);
      fired_.push_back(what);
      changed_.NotifyAll();
    };
  }

  // Blocks until `count` timers have fired.
  std::vector<int> Fired(size_t count) {
    MutexLock lock(&mutex_);
    while (fired_.size() < count) changed_.Wait(&mutex_);
    return fired_;
  }

  FakeClock clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<int> fired_ ABSL_GUARDED_BY(mutex_);
  TimerThread timers_{&clock_};
};

TEST_F(TimerThreadTest, ActionsRunInOrderOfTheirTimes) {
  timers_.After(absl::Seconds(3), Note(3));
  timers_.After(absl::Seconds(1), Note(1));
  timers_.After(absl::Seconds(2), Note(2));
  clock_.Advance(absl::Seconds(2));
  EXPECT_THAT(Fired(2), ElementsAre(1, 2));
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(Fired(3), ElementsAre(1, 2, 3));
}

TEST_F(TimerThreadTest, OverdueActionRunsAtOnce) {
  timers_.At(clock_.Now() - absl::Seconds(1), Note(1));
  EXPECT_THAT(Fired(1), ElementsAre(1));
}

TEST_F(TimerThreadTest, CancelledActionDoesNotRun) {
  const auto cancelled = timers_.After(absl::Seconds(1), Note(1));
  timers_.After(absl::Seconds(2), Note(2));
  timers_.Cancel(cancelled);
  timers_.Cancel(cancelled);
  clock_.Advance(absl::Seconds(2));
  EXPECT_THAT(Fired(1), ElementsAre(2));
}

TEST_F(TimerThreadTest, ActionCanSetNextTimer) {
  timers_.After(absl::Seconds(1), [this] { timers_.After(absl::ZeroDuration(), Note(1)); });
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(Fired(1), ElementsAre(1));
}

TEST_F(TimerThreadTest, NothingRunsAfterStop) {
  timers_.After(absl::Seconds(1), Note(1));
  timers_.Stop();
  timers_.After(absl::ZeroDuration(), Note(2));
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(Fired(0), ElementsAre());
}

}  // namespace
}  // namespace callslip
