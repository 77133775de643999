#include "runner/client/disk_thread.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "common/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/fake_timers.h"

namespace callslip::runner {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DiskThreadTest : public testing::Test {
 protected:
  ~DiskThreadTest() override { hang_->Notify(); }

  // Records the call and its end.
  void Do(const std::string& name, size_t bytes = 0) {
    disk_->Do(
        bytes, [done = done_, name](const std::atomic<bool>&) { done->push_back(name); },
        [this, name](const absl::Status& status) {
          EXPECT_EQ(std::this_thread::get_id(), own_);
          ended_.push_back(absl::StrCat(name, " ", status.ToString()));
        });
  }
  // Blocks the thread until the test notifies hang_.
  void Hang() {
    disk_->Do(
        0,
        [began = began_, hang = hang_, done = done_](const std::atomic<bool>& is_wanted) {
          began->Notify();
          hang->Wait();
          if (is_wanted) done->push_back("hung");
        },
        [this](const absl::Status& status) {
          ended_.push_back(absl::StrCat("hung ", status.ToString()));
        });
    began_->Wait();
  }
  void RunUntilEnded(size_t calls) {
    const auto work = boost::asio::make_work_guard(context_);
    context_.restart();
    while (ended_.size() < calls) context_.run_one();
  }

  const std::thread::id own_ = std::this_thread::get_id();
  boost::asio::io_context context_;
  FakeTimers timers_;
  std::unique_ptr<DiskThread> disk_ =
      std::make_unique<DiskThread>(context_.get_executor(), &timers_, DiskUser());
  const std::shared_ptr<Notification> began_ = std::make_shared<Notification>();
  const std::shared_ptr<Notification> hang_ = std::make_shared<Notification>();
  // Used by the thread until a call has ended.
  const std::shared_ptr<std::vector<std::string>> done_ =
      std::make_shared<std::vector<std::string>>();
  std::vector<std::string> ended_;
};

TEST_F(DiskThreadTest, CallsRunInOrderAndReportToExecutor) {
  Do("a");
  Do("b");
  EXPECT_THAT(ended_, IsEmpty());
  RunUntilEnded(2);
  EXPECT_THAT(*done_, ElementsAre("a", "b"));
  EXPECT_THAT(ended_, ElementsAre("a OK", "b OK"));
  timers_.Advance(DiskThread::kMaxWait);
  EXPECT_THAT(ended_, SizeIs(2));
}

TEST_F(DiskThreadTest, HangingCallIsAbandonedAfterTimeout) {
  Hang();
  Do("later");
  timers_.Advance(DiskThread::kMaxWait - absl::Milliseconds(1));
  EXPECT_THAT(ended_, IsEmpty());
  timers_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(ended_, ElementsAre(HasSubstr("hung DEADLINE_EXCEEDED"),
                                  HasSubstr("later DEADLINE_EXCEEDED")));
  hang_->Notify();
  Do("last");
  RunUntilEnded(3);
  EXPECT_THAT(*done_, ElementsAre("last"));
  EXPECT_EQ(ended_.back(), "last OK");
}

TEST_F(DiskThreadTest, QueuedBytesAreLimited) {
  Hang();
  Do("large", DiskThread::kMaxBytes);
  EXPECT_THAT(ended_, IsEmpty());
  Do("one more", 1);
  EXPECT_THAT(ended_, ElementsAre(HasSubstr("one more UNAVAILABLE: files are slow")));
  hang_->Notify();
  RunUntilEnded(3);
  ended_.clear();
  Do("large", DiskThread::kMaxBytes);
  RunUntilEnded(1);
  EXPECT_THAT(ended_, ElementsAre("large OK"));
}

// As many as a peer may have open: an agent asks for all its files at once.
TEST_F(DiskThreadTest, ManyCallsCanBePendingAtOnce) {
  for (int i = 0; i < 1'000; ++i) Do("small");
  RunUntilEnded(1'000);
  EXPECT_THAT(ended_, Each("small OK"));
}

TEST_F(DiskThreadTest, IdleThreadsDoNotCountTowardsLimit) {
  std::vector<std::unique_ptr<DiskThread>> others;
  for (int i = 0; i < DiskThread::kMaxThreads + 50; ++i) {
    disk_.swap(others.emplace_back(
        std::make_unique<DiskThread>(context_.get_executor(), &timers_, DiskUser())));
    ended_.clear();
    Do("small");
    RunUntilEnded(1);
    ASSERT_THAT(ended_, ElementsAre("small OK"));
  }
}

// Many hanging calls leave threads for all others.
TEST_F(DiskThreadTest, HangingFileSystemGetsOnlyItsShareOfThreads) {
  const auto hung = std::make_shared<std::atomic<int>>(0);
  const auto refused_for = [&](const DiskUser& user) {
    std::string status;
    DiskThread disk(context_.get_executor(), &timers_, user);
    const int before = *hung;
    disk.Do(
        0,
        [hung, hang = hang_, done = done_](const std::atomic<bool>&) {
          ++*hung;
          hang->Wait();
        },
        [&](const absl::Status& ended) { status = ended.ToString(); });
    std::string refused = status;
    while (refused.empty() && *hung == before) std::this_thread::yield();
    return refused;
  };
  for (int i = 0; i < DiskThread::kMaxThreadsOfSession; ++i) {
    EXPECT_EQ(refused_for({"dead", "0"}), "");
  }
  EXPECT_THAT(refused_for({"dead", "0"}), HasSubstr("UNAVAILABLE: 4 of the session's threads"));
  for (int i = 1; *hung < DiskThread::kMaxThreadsOfWorkspace; ++i) {
    ASSERT_EQ(refused_for({"dead", absl::StrCat(i)}), "");
  }
  EXPECT_THAT(refused_for({"dead", "new"}),
              HasSubstr("UNAVAILABLE: 64 of the workspace's threads"));
  EXPECT_EQ(refused_for({"other", "1000"}), "");
  disk_ = std::make_unique<DiskThread>(context_.get_executor(), &timers_, DiskUser{"well", "s"});
  Do("well");
  RunUntilEnded(1);
  EXPECT_THAT(ended_, ElementsAre("well OK"));
  // Calls that have ended no longer count.
  hang_->Notify();
  while (done_.use_count() > 1) std::this_thread::yield();
  while (!refused_for({"dead", "0"}).empty()) std::this_thread::yield();
}

TEST_F(DiskThreadTest, DestructionCancelsCallsWithoutBlocking) {
  Hang();
  Do("later");
  disk_ = nullptr;
  EXPECT_THAT(ended_, ElementsAre("hung CANCELLED: the session is over",
                                  "later CANCELLED: the session is over"));
  hang_->Notify();
  // The thread has ended when it no longer holds `done_`.
  while (done_.use_count() > 1) std::this_thread::yield();
  EXPECT_THAT(*done_, IsEmpty());
  context_.poll();
  timers_.Advance(DiskThread::kMaxWait);
  EXPECT_THAT(ended_, SizeIs(2));
}

}  // namespace
}  // namespace callslip::runner
