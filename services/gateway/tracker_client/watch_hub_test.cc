// The hub with a call that only records the messages.
#include "gateway/tracker_client/watch_hub.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boost/asio/io_context.hpp"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WatchHubTest : public testing::Test {
 protected:
  // The ids that one message adds, and the watches that it removes.
  struct Message {
    std::vector<std::string> add;
    std::vector<int64_t> remove;
  };

  class FakeCall final : public WatchCall {
   public:
    FakeCall(WatchHubTest* test, Listener* listener) : test_(test) { test->listener_ = listener; }
    bool IsReady() override { return test_->ready_; }
    void Send(const v1::WatchCommandsRequest& request) override {
      Message message;
      for (const v1::CommandWatch& watch : request.add()) {
        message.add.push_back(watch.command_id());
        test_->watch_ids_[watch.command_id()] = watch.watch_id();
      }
      message.remove.assign(request.remove().begin(), request.remove().end());
      test_->sent_.push_back(std::move(message));
    }

   private:
    WatchHubTest* const test_;
  };

  class FakeWatch final : public Watch {
   public:
    FakeWatch(Subject subject, std::vector<std::string>* told)
        : Watch(std::move(subject)), told_(told) {}
    void OnUpdate(v1::CommandUpdate update) override {
      told_->push_back(update.command().command_id());
    }
    void OnEnd(absl::Status status) override {
      told_->push_back(std::string(absl::StatusCodeToString(status.code())));
    }

   private:
    std::vector<std::string>* const told_;
  };

  int64_t Look(const std::string& id) {
    return hub_.Begin(std::make_unique<FakeWatch>(Subject(id), &told_));
  }
  int64_t Wait(const std::string& id) {
    Watch::Subject subject = Subject(id);
    subject.only_end = true;
    return hub_.Begin(std::make_unique<FakeWatch>(std::move(subject), &told_));
  }

  // The messages since the last call.
  std::vector<Message> TakeSent() {
    io_.restart();
    io_.poll();
    return std::exchange(sent_, {});
  }

  // The tracker's answer to looks.
  void Answer(const std::vector<std::string>& ids) {
    v1::WatchCommandsResponse response;
    for (const std::string& id : ids) {
      v1::CommandUpdate& update = *response.add_updates();
      update.set_watch_id(watch_ids_.at(id));
      update.set_last(true);
      update.mutable_command()->set_command_id(id);
    }
    listener_->OnUpdates(std::move(response));
  }

  // The tracker's message about a watch that it ends because it shuts down, or that it no longer
  // accepts.
  void EndForDrain(const std::string& id, bool begun = true) {
    v1::WatchCommandsResponse response;
    v1::CommandUpdate& update = *response.add_updates();
    update.set_watch_id(watch_ids_.at(id));
    update.set_last(true);
    update.set_draining(begun);
    if (!begun) {
      update.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kUnavailable));
      update.mutable_error()->set_reason("draining");
    }
    listener_->OnUpdates(std::move(response));
  }

  // The call ends, and the next one is opened after the pause.
  void Reopen(const absl::Status& status) {
    listener_->OnEnd(status);
    io_.restart();
    io_.run_one();
    if (ready_) listener_->OnReady();
  }

  boost::asio::io_context io_{1};
  FakeClock clock_;
  bool ready_ = true;
  WatchCall::Listener* listener_ = nullptr;
  std::vector<Message> sent_;
  std::map<std::string, int64_t> watch_ids_;
  std::vector<std::string> told_;
  // The last member, because its call uses the others.
  WatchHub hub_{io_.get_executor(), &clock_,
                [this](auto* listener) { return std::make_unique<FakeCall>(this, listener); }};

 private:
  Watch::Subject Subject(const std::string& id) {
    return {.command_id = id, .until = clock_.Now() + absl::Seconds(8)};
  }
};

TEST_F(WatchHubTest, SimultaneousLooksAreSentTogether) {
  Look("a");
  Look("b");
  Look("c");
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("a", "b", "c"));
  Answer({"c", "a", "b"});
  EXPECT_THAT(told_, ElementsAre("c", "a", "b"));
}

TEST_F(WatchHubTest, SingleLookDoesNotWait) {
  Look("a");
  EXPECT_THAT(TakeSent(), SizeIs(1));
  Answer({"a"});
  Look("b");
  EXPECT_THAT(TakeSent(), SizeIs(1));
}

TEST_F(WatchHubTest, LooksWaitForAsManyAsAreInProgress) {
  Look("a");
  Look("b");
  EXPECT_THAT(TakeSent(), SizeIs(1));
  Look("c");
  EXPECT_THAT(TakeSent(), IsEmpty());
  Look("d");
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("c", "d"));
}

TEST_F(WatchHubTest, AnswersReleaseWaitingLooks) {
  Look("a");
  Look("b");
  Look("c");
  TakeSent();
  Look("d");
  EXPECT_THAT(TakeSent(), IsEmpty());
  Answer({"a", "b"});
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("d"));
}

TEST_F(WatchHubTest, RemovedLookDoesNotDelayOthers) {
  const int64_t first = Look("a");
  const int64_t second = Look("b");
  TakeSent();
  Look("c");
  EXPECT_THAT(TakeSent(), IsEmpty());
  EXPECT_NE(hub_.Remove(first), nullptr);
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("c"));
  EXPECT_THAT(sent[0].remove, ElementsAre(watch_ids_["a"]));
  EXPECT_NE(hub_.Remove(second), nullptr);
}

TEST_F(WatchHubTest, RemovedLookIsNotSent) {
  Look("a");
  Look("b");
  TakeSent();
  const int64_t third = Look("c");
  EXPECT_NE(hub_.Remove(third), nullptr);
  Answer({"a", "b"});
  EXPECT_THAT(TakeSent(), IsEmpty());
  EXPECT_THAT(told_, ElementsAre("a", "b"));
}

TEST_F(WatchHubTest, PendingWaitsDoNotDelayLooks) {
  Wait("a");
  Wait("b");
  TakeSent();
  Look("c");
  EXPECT_THAT(TakeSent(), SizeIs(1));
}

TEST_F(WatchHubTest, NothingIsSentUntilCallIsReady) {
  ready_ = false;
  Look("a");
  EXPECT_THAT(TakeSent(), IsEmpty());
  Look("b");
  ready_ = true;
  listener_->OnReady();
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("a", "b"));
}

TEST_F(WatchHubTest, LooksOfBrokenCallAreNotCounted) {
  Look("a");
  Look("b");
  Look("c");
  TakeSent();
  EXPECT_NE(hub_.Remove(watch_ids_["a"]), nullptr);
  EXPECT_NE(hub_.Remove(watch_ids_["b"]), nullptr);
  EXPECT_NE(hub_.Remove(watch_ids_["c"]), nullptr);
  TakeSent();
  listener_->OnEnd(absl::UnavailableError("broken"));
  Look("d");
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("d"));
  EXPECT_THAT(sent[0].remove, IsEmpty());
}

TEST_F(WatchHubTest, WaitEndedByDrainContinuesAtNextTracker) {
  Wait("a");
  Wait("b");
  Wait("c");
  TakeSent();
  EndForDrain("a");
  EndForDrain("c", /*begun=*/false);
  Answer({"b"});
  EXPECT_THAT(told_, ElementsAre("b"));
  EXPECT_THAT(TakeSent(), IsEmpty()) << "nothing is asked of a tracker that has declined it";
  Reopen(absl::OkStatus());
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("a", "c"));
  Answer({"a", "c"});
  EXPECT_THAT(told_, ElementsAre("b", "a", "c"));
}

TEST_F(WatchHubTest, WaitEndedByDrainCanBeRemoved) {
  const int64_t wait = Wait("a");
  TakeSent();
  EndForDrain("a");
  EXPECT_NE(hub_.Remove(wait), nullptr);
  listener_->OnEnd(absl::OkStatus());
  Wait("b");
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("b"));
  EXPECT_THAT(sent[0].remove, IsEmpty());
}

TEST_F(WatchHubTest, LooksFailWhileTrackerDrains) {
  Wait("a");
  Look("b");
  TakeSent();
  Reopen(ErrorWithDetails(absl::StatusCode::kUnavailable, "", {.reason = "draining"}));
  EXPECT_THAT(told_, ElementsAre("UNAVAILABLE"));
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].add, ElementsAre("a"));
}

TEST_F(WatchHubTest, MessagesAreBoundedInBytes) {
  const std::string long_id(WatchHub::kMaxNameBytes - 4, 'x');
  for (int i = 0; i < 1000; ++i) Wait(std::to_string(1000 + i) + long_id);
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_LT(sent[0].add.size() * WatchHub::kMaxNameBytes, size_t{1} << 20);
  EXPECT_EQ(sent[0].add.size() + sent[1].add.size(), 1000u);
}

TEST_F(WatchHubTest, InvalidWatchEndsWithoutEndingOthers) {
  Wait("a");
  Wait(std::string(WatchHub::kMaxNameBytes + 1, 'x'));
  const auto sent = TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].add.size(), 1);
  EXPECT_THAT(told_, ElementsAre("INVALID_ARGUMENT"));
  EXPECT_EQ(hub_.waits(), 1);
}

}  // namespace
}  // namespace callslip::gateway
