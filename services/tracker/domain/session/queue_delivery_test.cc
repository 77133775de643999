#include "tracker/domain/session/queue_delivery.h"

#include <string>

#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

constexpr absl::Duration kSecond = absl::Seconds(1);
const auto kStale = FailsWith(absl::StatusCode::kFailedPrecondition, "stale_turn");
const auto kNotPaused = FailsWith(absl::StatusCode::kFailedPrecondition, "queue_not_paused");

class QueueDeliveryTest : public testing::Test {
 protected:
  std::string Add(const std::string& text) { return queue_.Add({.message = text}, now_)->id; }
  // Sends the next message; a runner is there.
  QueueDelivery::Sent Send() {
    auto sent = delivery_.Poll(true, now_);
    EXPECT_TRUE(sent.has_value());
    return sent.value_or(QueueDelivery::Sent{});
  }
  bool Sends() { return delivery_.Poll(true, now_).has_value(); }

  absl::Time now_ = absl::FromUnixSeconds(1'738'396'800);
  MessageQueue queue_{100};
  QueueDelivery delivery_{&queue_, {}};
};

TEST_F(QueueDeliveryTest, SendsFirstMessageWhenAgentIsIdleAndRunnerIsAttached) {
  Add("one");
  Add("two");
  EXPECT_FALSE(delivery_.Poll(false, now_).has_value());
  const QueueDelivery::Sent sent = Send();
  EXPECT_EQ(sent.message.message, "one");
  EXPECT_EQ(sent.turn_id.substr(0, 5), "turn-");
  EXPECT_EQ(queue_.Sending()->turn_id, sent.turn_id);
}

TEST_F(QueueDeliveryTest, ManyTriggersSendOneMessage) {
  Add("one");
  Add("two");
  const QueueDelivery::Sent sent = Send();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Sends());
  ASSERT_OK(delivery_.Start(sent.turn_id, now_));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Sends());
}

TEST_F(QueueDeliveryTest, TurnStartDequeuesMessageAndTurnEndSendsNext) {
  const std::string one = Add("one");
  Add("two");
  const QueueDelivery::Sent sent = Send();
  ASSERT_OK_AND_ASSIGN(const QueueDelivery::Started started, delivery_.Start(sent.turn_id, now_));
  EXPECT_TRUE(started.began);
  EXPECT_EQ(started.turn.prompt.id, one);
  EXPECT_EQ(queue_.size(), 1u);
  ASSERT_OK_AND_ASSIGN(const auto again, delivery_.Start(sent.turn_id, now_));
  EXPECT_FALSE(again.began);
  ASSERT_OK_AND_ASSIGN(const auto finished, delivery_.Finish(sent.turn_id, {}, now_));
  EXPECT_EQ(finished.turn->prompt.id, one);
  EXPECT_EQ(Send().message.message, "two");
}

TEST_F(QueueDeliveryTest, StaleTurnStartsAndEndsChangeNothing) {
  Add("one");
  Add("two");
  const std::string first = Send().turn_id;
  EXPECT_THAT(delivery_.Start("turn-x", now_), kStale);
  ASSERT_OK(delivery_.Start(first, now_));
  EXPECT_THAT(delivery_.Finish("turn-x", {}, now_), kStale);
  EXPECT_THAT(delivery_.Finish("", {}, now_), kStale);
  ASSERT_OK(delivery_.Finish(first, {}, now_));
  const std::string second = Send().turn_id;
  ASSERT_OK(delivery_.Start(second, now_));
  const DeliveryState before = delivery_.state();
  ASSERT_OK_AND_ASSIGN(const auto repeated,
                       delivery_.Finish(first, {.end = TurnEnd::kFailed}, now_));
  EXPECT_FALSE(repeated.ended);
  EXPECT_EQ(delivery_.state(), before);
  EXPECT_THAT(delivery_.Start(first, now_), kStale);
}

TEST_F(QueueDeliveryTest, FailedTurnPausesQueueWithItsReason) {
  const std::string one = Add("one");
  Add("two");
  const std::string turn = Send().turn_id;
  ASSERT_OK(delivery_.Start(turn, now_));
  ASSERT_OK(delivery_.Finish(turn, {TurnEnd::kFailed, "rate_limited", "try later"}, now_));
  ASSERT_TRUE(delivery_.state().pause.has_value());
  EXPECT_EQ(delivery_.state().pause->reason, "rate_limited");
  EXPECT_EQ(delivery_.state().pause->failed->id, one);
  EXPECT_FALSE(Sends());
  ASSERT_OK(delivery_.Resume());
  EXPECT_EQ(Send().message.message, "two");
}

TEST_F(QueueDeliveryTest, RetrySendsFailedMessageNextUnderNewId) {
  const std::string one = Add("one");
  Add("two");
  const std::string turn = Send().turn_id;
  ASSERT_OK(delivery_.Start(turn, now_));
  ASSERT_OK(delivery_.Finish(turn, {.end = TurnEnd::kCancelled}, now_));
  EXPECT_EQ(delivery_.state().pause->reason, "cancelled");
  ASSERT_OK_AND_ASSIGN(const QueuedMessage again, delivery_.Retry(now_));
  EXPECT_NE(again.id, one);
  EXPECT_EQ(Send().message.id, again.id);
  EXPECT_EQ(again.message, "one");
}

TEST_F(QueueDeliveryTest, SkipDropsFailedMessageOrElseFirst) {
  Add("one");
  Add("two");
  const std::string turn = Send().turn_id;
  ASSERT_OK(delivery_.Start(turn, now_));
  ASSERT_OK(delivery_.Finish(turn, {.end = TurnEnd::kFailed}, now_));
  EXPECT_EQ(delivery_.Skip()->message, "one");
  EXPECT_FALSE(delivery_.state().pause.has_value());
  EXPECT_EQ(queue_.size(), 1u);
  delivery_.Pause("stopped", "", now_);
  EXPECT_EQ(delivery_.Skip()->message, "two");
  delivery_.Pause("stopped", "", now_);
  EXPECT_THAT(delivery_.Skip(), FailsWith(absl::StatusCode::kFailedPrecondition, "queue_empty"));
  EXPECT_THAT(delivery_.Retry(now_),
              FailsWith(absl::StatusCode::kFailedPrecondition, "nothing_to_retry"));
  ASSERT_OK(delivery_.Resume());
  EXPECT_THAT(delivery_.Resume(), kNotPaused);
  EXPECT_THAT(delivery_.Skip(), kNotPaused);
  EXPECT_THAT(delivery_.Retry(now_), kNotPaused);
}

TEST_F(QueueDeliveryTest, DeclinedMessageStaysQueuedAndPausesQueue) {
  const std::string one = Add("one");
  const std::string turn = Send().turn_id;
  ASSERT_OK_AND_ASSIGN(const auto finished,
                       delivery_.Finish(turn, {TurnEnd::kFailed, "agent_crashed", ""}, now_));
  EXPECT_TRUE(finished.ended);
  EXPECT_FALSE(finished.turn.has_value());
  EXPECT_EQ(queue_.messages().front().id, one);
  EXPECT_EQ(queue_.Sending(), nullptr);
  EXPECT_EQ(delivery_.state().pause->reason, "agent_crashed");
  EXPECT_THAT(delivery_.Start(turn, now_), kStale);
}

TEST_F(QueueDeliveryTest, RunnerThatLeavesReturnsMessageButKeepsStartedTurn) {
  Add("one");
  const std::string turn = Send().turn_id;
  EXPECT_TRUE(delivery_.RunnerLeft());
  EXPECT_THAT(delivery_.Start(turn, now_), kStale);
  const std::string second = Send().turn_id;
  ASSERT_OK(delivery_.Start(second, now_));
  EXPECT_FALSE(delivery_.RunnerLeft());
  EXPECT_EQ(delivery_.state().turn->id, second);
}

TEST_F(QueueDeliveryTest, SilentRunnerLosesMessageAfterStartTimeout) {
  Add("one");
  Send();
  EXPECT_EQ(delivery_.NextTime(true), now_ + kStartTimeout);
  now_ += kStartTimeout - absl::Nanoseconds(1);
  EXPECT_FALSE(Sends());
  EXPECT_NE(queue_.Sending(), nullptr);
  now_ += absl::Nanoseconds(1);
  EXPECT_FALSE(Sends());
  EXPECT_EQ(queue_.Sending(), nullptr);
  EXPECT_EQ(delivery_.state().pause->reason, "runner_silent");
}

TEST_F(QueueDeliveryTest, DelayStartsWhenAgentIsIdleAndSurvivesRestart) {
  ASSERT_OK(delivery_.Configure({.delay = 5 * kSecond}));
  Add("one");
  EXPECT_FALSE(Sends());
  EXPECT_EQ(delivery_.state().send_at, now_ + 5 * kSecond);
  EXPECT_EQ(delivery_.NextTime(true), now_ + 5 * kSecond);
  EXPECT_EQ(delivery_.NextTime(false), absl::InfiniteFuture());
  now_ += 3 * kSecond;
  // A restart.
  QueueDelivery after(&queue_, {}, delivery_.state());
  EXPECT_FALSE(after.Poll(true, now_).has_value());
  now_ += 2 * kSecond;
  EXPECT_TRUE(after.Poll(true, now_).has_value());
}

TEST_F(QueueDeliveryTest, NothingIsSentWhileDeliveryIsDisabled) {
  ASSERT_OK(delivery_.Configure({.enabled = false}));
  Add("one");
  EXPECT_FALSE(Sends());
  EXPECT_EQ(delivery_.NextTime(true), absl::InfiniteFuture());
  ASSERT_OK(delivery_.Configure({}));
  EXPECT_TRUE(Sends());
}

TEST_F(QueueDeliveryTest, DelaysOutOfBoundsAreRefused) {
  const auto invalid = FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_THAT(delivery_.Configure({.delay = -kSecond}), invalid);
  EXPECT_THAT(delivery_.Configure({.delay = kMaxQueueDelay + kSecond}), invalid);
  EXPECT_OK(delivery_.Configure({.delay = kMaxQueueDelay}));
}

TEST_F(QueueDeliveryTest, SendNowBypassesPauseDelayAndOtherMessages) {
  ASSERT_OK(delivery_.Configure({.enabled = false, .delay = kSecond}));
  Add("one");
  delivery_.Pause("stopped", "", now_);
  ASSERT_OK_AND_ASSIGN(const auto sent, delivery_.SendNow({.message = "now"}, now_));
  EXPECT_EQ(sent.message.message, "now");
  const auto busy = FailsWith(absl::StatusCode::kFailedPrecondition, "turn_in_progress");
  EXPECT_THAT(delivery_.SendNow({.message = "more"}, now_), busy);
  ASSERT_OK(delivery_.Start(sent.turn_id, now_));
  EXPECT_THAT(delivery_.SendNow({.message = "more"}, now_), busy);
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(QueueDeliveryTest, SendNowSendsPromptThatIsAlreadyQueued) {
  Add("one");
  const std::string second = queue_.Add({.message = "two", .prompt_id = "p"}, now_)->id;
  ASSERT_OK_AND_ASSIGN(const auto sent,
                       delivery_.SendNow({.message = "two", .prompt_id = "p"}, now_));
  EXPECT_EQ(sent.message.id, second);
  EXPECT_EQ(queue_.size(), 2u);
}

TEST_F(QueueDeliveryTest, ReconcilesTurnWithLog) {
  const std::string one = Add("one");
  const std::string turn = Send().turn_id;
  MessageQueue recorded_queue(100, queue_.messages());
  QueueDelivery recorded(&recorded_queue, {}, delivery_.state());
  recorded.Reconcile(/*recorded=*/true, now_);
  EXPECT_TRUE(recorded_queue.empty());
  EXPECT_EQ(recorded.state().turn->id, turn);
  EXPECT_EQ(recorded.state().turn->prompt.id, one);

  delivery_.Reconcile(/*recorded=*/false, now_);
  EXPECT_FALSE(delivery_.state().turn.has_value());
  EXPECT_EQ(Send().message.id, one);
}

}  // namespace
}  // namespace callslip::tracker
