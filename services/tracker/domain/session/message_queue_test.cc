#include "tracker/domain/session/message_queue.h"

#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

const absl::Time kNow = absl::FromUnixSeconds(1'738'396'800);

std::vector<std::string> Texts(const MessageQueue& queue) {
  std::vector<std::string> texts;
  for (const QueuedMessage& message : queue.messages()) texts.push_back(message.message);
  return texts;
}

std::string Add(MessageQueue& queue, const std::string& text) {
  return queue.Add({.message = text}, kNow)->id;
}

TEST(MessageQueueTest, IdContainsUnixTimeAndEightHexDigits) {
  MessageQueue queue(100);
  EXPECT_THAT(Add(queue, "hello"), MatchesRegex("q-1738396800-[0-9a-f]{8}"));
}

TEST(MessageQueueTest, ReturnsMessagesInOrderOfArrival) {
  MessageQueue queue(100);
  Add(queue, "one");
  Add(queue, "two");
  EXPECT_EQ(queue.Pop()->message, "one");
  EXPECT_EQ(queue.Pop()->message, "two");
  EXPECT_THAT(queue.Pop(), FailsWith(absl::StatusCode::kFailedPrecondition, "queue_empty"));
}

TEST(MessageQueueTest, StoresAllFieldsOfMessage) {
  MessageQueue queue(100);
  ASSERT_OK_AND_ASSIGN(const QueuedMessage added,
                       queue.Add({"look", {"image-1", "image-2"}, "tab-1", "prompt-1"}, kNow));
  EXPECT_EQ(added.image_ids, (std::vector<std::string>{"image-1", "image-2"}));
  EXPECT_EQ(added.client_id, "tab-1");
  EXPECT_EQ(added.prompt_id, "prompt-1");
  EXPECT_EQ(added.queued_at, kNow);
  EXPECT_FALSE(added.sending());
  EXPECT_EQ(*queue.Get(added.id), added);
}

TEST(MessageQueueTest, RefusesReuseOfPromptIdForOtherContent) {
  using Add = absl::StatusOr<QueuedMessage> (MessageQueue::*)(MessageRequest, absl::Time);
  const auto reused = FailsWith(absl::StatusCode::kAlreadyExists, "prompt_id_reused");
  for (const Add add : {&MessageQueue::Add, &MessageQueue::AddFirst}) {
    MessageQueue queue(100);
    const MessageRequest deploy = {"deploy", {"image-1"}, "tab-1", "prompt-1"};
    ASSERT_OK_AND_ASSIGN(const QueuedMessage added, queue.Add(deploy, kNow));
    EXPECT_EQ((queue.*add)(deploy, kNow)->id, added.id);
    EXPECT_THAT((queue.*add)({"do not deploy", {"image-1"}, "tab-1", "prompt-1"}, kNow), reused);
    EXPECT_THAT((queue.*add)({"deploy", {"image-2"}, "tab-1", "prompt-1"}, kNow), reused);
    EXPECT_THAT((queue.*add)({"deploy", {}, "tab-1", "prompt-1"}, kNow), reused);
    EXPECT_EQ(queue.messages(), std::deque<QueuedMessage>{added});
    ASSERT_OK(queue.Edit(added.id, {.message = "deploy tomorrow"}));
    EXPECT_THAT((queue.*add)(deploy, kNow), reused);
    EXPECT_EQ((queue.*add)({"deploy tomorrow", {}, "tab-1", "prompt-1"}, kNow)->id, added.id);
  }
}

TEST(MessageQueueTest, EmptyQueueAndUnknownIdGiveDifferentErrors) {
  MessageQueue queue(100);
  const auto unknown = FailsWith(absl::StatusCode::kNotFound, "unknown_message");
  EXPECT_THAT(queue.Pop(), FailsWith(absl::StatusCode::kFailedPrecondition, "queue_empty"));
  EXPECT_THAT(queue.Get("q-1-00000000"), unknown);
  EXPECT_THAT(queue.Delete("q-1-00000000"), unknown);
  EXPECT_THAT(queue.Move("q-1-00000000", 0), unknown);
  EXPECT_THAT(queue.Edit("q-1-00000000", {.message = "x"}), unknown);
}

TEST(MessageQueueTest, RefusesEmptyAndOversizedMessages) {
  MessageQueue queue(100);
  const auto invalid = FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument");
  const auto empty = FailsWith(absl::StatusCode::kInvalidArgument, "empty_message");
  EXPECT_THAT(queue.Add({}, kNow), empty);
  EXPECT_THAT(queue.Add({.message = " \t\n"}, kNow), empty);
  EXPECT_OK(queue.Add({.image_ids = {"image-1"}}, kNow));
  EXPECT_THAT(queue.Add({.message = std::string(kMaxMessageBytes + 1, 'x')}, kNow), invalid);
  EXPECT_THAT(queue.Add({.image_ids = {""}}, kNow), invalid);
  EXPECT_THAT(
      queue.Add({.image_ids = std::vector<std::string>(kMaxImagesOfMessage + 1, "i")}, kNow),
      invalid);
  EXPECT_THAT(queue.Add({.message = "x", .client_id = std::string(129, 'c')}, kNow), invalid);
  EXPECT_THAT(queue.Add({.message = "x", .prompt_id = std::string(129, 'p')}, kNow), invalid);
}

TEST(MessageQueueTest, RefusesMessagesBeyondCapacityOrByteLimit) {
  MessageQueue queue(2);
  Add(queue, "one");
  Add(queue, "two");
  const absl::StatusOr<QueuedMessage> refused = queue.Add({.message = "three"}, kNow);
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kResourceExhausted, "queue_full"));
  EXPECT_EQ(DetailsOf(refused.status()).depth, 2);
  EXPECT_TRUE(DetailsOf(refused.status()).retry_after.has_value());

  MessageQueue long_ones(1000);
  const std::string longest(kMaxMessageBytes, 'x');
  for (size_t i = 0; i < kMaxQueueBytes / kMaxMessageBytes; ++i) Add(long_ones, longest);
  EXPECT_THAT(long_ones.Add({.message = "x"}, kNow),
              FailsWith(absl::StatusCode::kResourceExhausted, "queue_full"));
}

TEST(MessageQueueTest, SamePromptIsQueuedOnce) {
  MessageQueue queue(100);
  ASSERT_OK_AND_ASSIGN(const QueuedMessage first,
                       queue.Add({.message = "x", .prompt_id = "p1"}, kNow));
  ASSERT_OK_AND_ASSIGN(const QueuedMessage again,
                       queue.Add({.message = "x", .prompt_id = "p1"}, kNow));
  EXPECT_EQ(first, again);
  EXPECT_EQ(queue.size(), 1u);
}

TEST(MessageQueueTest, MovesMessageAmongWaitingMessages) {
  MessageQueue queue(100);
  Add(queue, "a");
  Add(queue, "b");
  const std::string c = Add(queue, "c");
  EXPECT_OK(queue.Move(c, 0));
  EXPECT_THAT(Texts(queue), ElementsAre("c", "a", "b"));
  EXPECT_OK(queue.Move(c, 1));
  EXPECT_THAT(Texts(queue), ElementsAre("a", "c", "b"));
  EXPECT_OK(queue.Move(c, 99));
  EXPECT_THAT(Texts(queue), ElementsAre("a", "b", "c"));
  EXPECT_THAT(queue.Move(c, -1), FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
  queue.MarkSending("turn-1");
  EXPECT_OK(queue.Move(c, 0));
  EXPECT_THAT(Texts(queue), ElementsAre("a", "c", "b"));
}

TEST(MessageQueueTest, EditChangesOnlyTextAndImages) {
  MessageQueue queue(100);
  ASSERT_OK_AND_ASSIGN(const QueuedMessage added,
                       queue.Add({"helo", {}, "tab-1", "prompt-1"}, kNow));
  ASSERT_OK_AND_ASSIGN(const QueuedMessage edited,
                       queue.Edit(added.id, {.message = "hello", .image_ids = {"i"}}));
  QueuedMessage expected = added;
  expected.message = "hello";
  expected.image_ids = {"i"};
  EXPECT_EQ(edited, expected);
  EXPECT_THAT(queue.Edit(added.id, {}),
              FailsWith(absl::StatusCode::kInvalidArgument, "empty_message"));
}

TEST(MessageQueueTest, MessageBeingSentCannotBeChanged) {
  MessageQueue queue(100);
  const std::string first = Add(queue, "first");
  Add(queue, "second");
  queue.MarkSending("turn-1");
  const auto sending = FailsWith(absl::StatusCode::kFailedPrecondition, "message_sending");
  EXPECT_THAT(queue.Delete(first), sending);
  EXPECT_THAT(queue.Move(first, 1), sending);
  EXPECT_THAT(queue.Edit(first, {.message = "x"}), sending);
  EXPECT_EQ(queue.Pop()->message, "second");
  Add(queue, "third");
  EXPECT_EQ(queue.Clear(), 1u);
  EXPECT_THAT(Texts(queue), ElementsAre("first"));
  queue.ReturnSending();
  EXPECT_OK(queue.Delete(first));
}

}  // namespace
}  // namespace callslip::tracker
