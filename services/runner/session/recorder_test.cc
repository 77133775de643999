#include "runner/session/recorder.h"

#include <memory>
#include <string>
#include <vector>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/fake_timers.h"
#include "runner/session/fake_tracker.h"
#include "runner/tracker/call_with_retry.h"
#include "support/session_events.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using How = FakeTracker::How;

class RecorderTest : public testing::Test {
 protected:
  bool Add(const std::string& text, const std::string& message_id = "") {
    NewEvent event("agent_message");
    event.Set("text", text).SetUnlessEmpty("message_id", message_id);
    const bool added = recorder_->Add(std::move(event));
    Run();
    return added;
  }
  void Run() {
    context_.restart();
    context_.poll();
  }
  // The result of Flush(). Advances the time meanwhile.
  absl::Status Flush() {
    std::optional<absl::Status> flushed;
    boost::asio::co_spawn(
        context_,
        [](std::shared_ptr<Recorder> recorder,
           std::optional<absl::Status>* to) -> boost::asio::awaitable<void> {
          *to = co_await recorder->Flush();
        }(recorder_, &flushed),
        boost::asio::detached);
    while (!flushed.has_value()) {
      Run();
      timers_.Advance(absl::Milliseconds(5));
    }
    return *flushed;
  }

  boost::asio::io_context context_;
  FakeTimers timers_;
  FakeTracker log_;
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>(
      context_.get_executor(), &log_, &timers_, SessionName{"client", "s", 7}, 0);
};

TEST_F(RecorderTest, FirstPieceIsSentAtOnceAndNextOnesTogether) {
  EXPECT_TRUE(Add("a"));
  // Events that a slow disk stores late must not be appended twice.
  EXPECT_EQ(log_.DeadlineOf<v1::AppendEventsRequest>(), absl::Seconds(30));
  EXPECT_THAT(log_.Texts(), ElementsAre("a"));
  EXPECT_TRUE(Add("b"));
  EXPECT_TRUE(Add("c"));
  EXPECT_THAT(log_.Texts(), ElementsAre("a"));
  timers_.Advance(Recorder::kEvery);
  Run();
  EXPECT_THAT(log_.Texts(), ElementsAre("a", "bc"));
}

TEST_F(RecorderTest, PiecesOfOneSecondBecomeAboutFortyEvents) {
  for (int i = 0; i < 1000; ++i) {
    Add("x");
    timers_.Advance(absl::Milliseconds(1));
    Run();
  }
  EXPECT_TRUE(Flush().ok());
  EXPECT_LE(log_.log.size(), 42);
  size_t length = 0;
  for (const std::string& text : log_.Texts()) length += text.size();
  EXPECT_EQ(length, 1000);
}

TEST_F(RecorderTest, LostCallIsSentAgain) {
  log_.next = {How::kLoseCall, How::kLoseCall};
  Add("a");
  EXPECT_TRUE(Flush().ok());
  EXPECT_THAT(log_.Texts(), ElementsAre("a"));
  EXPECT_EQ(log_.appends, 3);
}

TEST_F(RecorderTest, RecordedEventsAreNotSentAgainIfAnswerIsLost) {
  Add("a");
  log_.next = {How::kLoseAnswer};
  Add("b", "1");
  Add("c", "2");
  EXPECT_TRUE(Flush().ok());
  EXPECT_THAT(log_.Texts(), ElementsAre("a", "b", "c"));
}

TEST_F(RecorderTest, EarlierEventWithSameTextIsDistinct) {
  Add("a", "1");
  EXPECT_TRUE(Flush().ok());
  log_.next = {How::kLoseCall};
  Add("a", "1");
  // Another client's event comes first.
  log_.Record(v1::MakeMessage("other"));
  EXPECT_TRUE(Flush().ok());
  EXPECT_THAT(log_.Texts(), ElementsAre("a", "other", "a"));
}

TEST_F(RecorderTest, RecordedEventsAreFoundBehindSimilarOnes) {
  const auto call = [](const std::string& id) {
    NewEvent event("tool_call");
    event.Set("tool_call_id", id);
    return event;
  };
  Add("a");
  log_.Record(call("x").ToProto());
  log_.next = {How::kLoseAnswer};
  for (const char* id : {"x", "x", "y"}) recorder_->Add(call(id));
  EXPECT_TRUE(Flush().ok());
  std::vector<std::string> ids;
  for (const v1::SessionEvent& event : log_.log) ids.push_back(MemberOf(event, "tool_call_id"));
  EXPECT_THAT(ids, ElementsAre("", "x", "x", "x", "y"));
}

TEST_F(RecorderTest, NothingIsRecordedAfterSessionHasEnded) {
  log_.next = {How::kRefuse};
  Add("a");
  EXPECT_EQ(DetailsOf(Flush()).reason, "session_ended");
  EXPECT_FALSE(Add("b"));
  EXPECT_THAT(log_.Texts(), IsEmpty());
}

TEST_F(RecorderTest, OnlyRefusedEventIsOmitted) {
  Add("first", "1");
  for (const char* text : {"a", "bad", "b"}) Add(text, text);
  EXPECT_TRUE(Flush().ok());
  ASSERT_EQ(log_.log.size(), 4);
  EXPECT_THAT(log_.Texts(), ElementsAre("first", "a", "", "b"));
  EXPECT_EQ(log_.log[2].type(), "agent_update");
  const Json told = Json::parse(log_.log[2].data());
  EXPECT_EQ(told["left_out"], "agent_message");
  EXPECT_EQ(told["why"], "text is too bad");
  EXPECT_TRUE(Add("c"));
}

// A request that the tracker can never parse looks the same as a connection that broke.
TEST_F(RecorderTest, EventsAreSentOneByOneAfterTooManyInternalErrors) {
  Add("first", "1");
  log_.next.assign(Backoff::kMaxInternalErrors, How::kBreak);
  Add("a", "2");
  Add("b", "3");
  EXPECT_TRUE(Flush().ok());
  EXPECT_THAT(log_.Texts(), ElementsAre("first", "a", "b"));
  EXPECT_EQ(log_.appends, 1 + Backoff::kMaxInternalErrors + 2);
}

TEST_F(RecorderTest, EventIsOmittedAfterTooManyInternalErrors) {
  Add("first", "1");
  log_.next.assign(2 * Backoff::kMaxInternalErrors, How::kBreak);
  Add("a", "2");
  EXPECT_TRUE(Flush().ok());
  EXPECT_THAT(log_.Texts(), ElementsAre("first", ""));
  EXPECT_EQ(Json::parse(log_.log[1].data())["left_out"], "agent_message");
}

TEST_F(RecorderTest, RecordingResumesWithNextTurn) {
  log_.next = {How::kRefuse};
  Add("a");
  EXPECT_FALSE(Flush().ok());
  recorder_->Begin();
  EXPECT_TRUE(Add("b"));
  EXPECT_TRUE(Flush().ok());
  EXPECT_THAT(log_.Texts(), ElementsAre("b"));
}

TEST_F(RecorderTest, NamesItsLease) {
  Add("a");
  EXPECT_EQ(log_.lease, 7);
}

TEST_F(RecorderTest, WaitForRoomEndsWhenThereIsRoom) {
  log_.next.assign(3, How::kLoseCall);
  const std::string much(size_t{1} << 20, 'x');
  for (int i = 0; recorder_->has_room(); ++i) ASSERT_TRUE(Add(much, std::to_string(i)));
  bool goes_on = false;
  boost::asio::co_spawn(
      context_,
      [](std::shared_ptr<Recorder> recorder, bool* to) -> boost::asio::awaitable<void> {
        co_await recorder->WaitForRoom();
        *to = true;
      }(recorder_, &goes_on),
      boost::asio::detached);
  Run();
  EXPECT_FALSE(goes_on);
  EXPECT_TRUE(Flush().ok());
  EXPECT_TRUE(goes_on);
  EXPECT_TRUE(recorder_->has_room());
}

TEST_F(RecorderTest, WaitForRoomEndsWhenRecordingStops) {
  log_.next = {How::kLoseCall, How::kRefuse};
  const std::string much(size_t{9} << 20, 'x');
  ASSERT_TRUE(Add(much));
  bool goes_on = false;
  boost::asio::co_spawn(
      context_,
      [](std::shared_ptr<Recorder> recorder, bool* to) -> boost::asio::awaitable<void> {
        co_await recorder->WaitForRoom();
        *to = true;
      }(recorder_, &goes_on),
      boost::asio::detached);
  EXPECT_FALSE(Flush().ok());
  EXPECT_TRUE(goes_on);
}

TEST_F(RecorderTest, BufferedEventsAreLimitedWhileTrackerIsAway) {
  log_.next.assign(1000, How::kLoseCall);
  const std::string much(size_t{1} << 20, 'x');
  int added = 0;
  while (added < 100 && Add(much, std::to_string(added))) ++added;
  EXPECT_GE(added, 30);
  EXPECT_LE(added, 40);
}

}  // namespace
}  // namespace callslip::runner
