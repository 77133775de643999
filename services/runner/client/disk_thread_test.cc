#include "runner/client/disk_thread.h"

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

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DiskThreadTest : public testing::Test {
 protected:
  ~DiskThreadTest() override { hang_->Notify(); }

  // Notes what is done, and how each call ends.
  void Do(const std::string& name, size_t bytes = 0) {
    disk_->Do(
        bytes, [done = done_, name] { done->push_back(name); },
        [this, name](const absl::Status& status) {
          EXPECT_EQ(std::this_thread::get_id(), own_);
          ended_.push_back(absl::StrCat(name, " ", status.ToString()));
        });
  }
  // Goes on only when the test lets it.
  void Hang() {
    disk_->Do(
        0,
        [began = began_, hang = hang_] {
          began->Notify();
          hang->Wait();
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
      std::make_unique<DiskThread>(context_.get_executor(), &timers_);
  const std::shared_ptr<Notification> began_ = std::make_shared<Notification>();
  const std::shared_ptr<Notification> hang_ = std::make_shared<Notification>();
  // Of the thread, until a call has ended.
  const std::shared_ptr<std::vector<std::string>> done_ =
      std::make_shared<std::vector<std::string>>();
  std::vector<std::string> ended_;
};

TEST_F(DiskThreadTest, CallsAreDoneInTheirOrderAndToldOfHere) {
  Do("a");
  Do("b");
  EXPECT_THAT(ended_, IsEmpty());
  RunUntilEnded(2);
  EXPECT_THAT(*done_, ElementsAre("a", "b"));
  EXPECT_THAT(ended_, ElementsAre("a OK", "b OK"));
  timers_.Advance(DiskThread::kMaxWait);
  EXPECT_THAT(ended_, SizeIs(2));
}

TEST_F(DiskThreadTest, WhatDoesNotAnswerIsGivenUp) {
  Hang();
  Do("later");
  timers_.Advance(DiskThread::kMaxWait - absl::Milliseconds(1));
  EXPECT_THAT(ended_, IsEmpty());
  timers_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(ended_,
              ElementsAre(HasSubstr("it may be done all the same"), HasSubstr("it was not done")));
  hang_->Notify();
  Do("last");
  RunUntilEnded(3);
  EXPECT_THAT(*done_, ElementsAre("last"));
  EXPECT_EQ(ended_.back(), "last OK");
}

TEST_F(DiskThreadTest, OnlySoMuchWaits) {
  Hang();
  Do("large", DiskThread::kMaxBytes);
  EXPECT_THAT(ended_, IsEmpty());
  Do("one more", 1);
  EXPECT_THAT(ended_, ElementsAre(HasSubstr("one more RESOURCE_EXHAUSTED: files are slow")));
  for (size_t i = 2; i < DiskThread::kMaxCalls; ++i) Do("small");
  EXPECT_THAT(ended_, SizeIs(1));
  Do("small");
  EXPECT_THAT(ended_, SizeIs(2));
  hang_->Notify();
  RunUntilEnded(DiskThread::kMaxCalls + 2);
  ended_.clear();
  Do("large", DiskThread::kMaxBytes);
  RunUntilEnded(1);
  EXPECT_THAT(ended_, ElementsAre("large OK"));
}

TEST_F(DiskThreadTest, WhoGoesIsHeldUpByNothing) {
  Hang();
  Do("later");
  disk_ = nullptr;
  hang_->Notify();
  context_.poll();
  timers_.Advance(DiskThread::kMaxWait);
  EXPECT_THAT(ended_, IsEmpty());
  EXPECT_THAT(*done_, IsEmpty());
}

}  // namespace
}  // namespace callslip::runner
