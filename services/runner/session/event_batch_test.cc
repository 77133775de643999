#include "runner/session/event_batch.h"

#include <string>

#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

AgentUpdate Piece(const std::string& text, const std::string& message_id = "m",
                  MessagePiece::Role role = MessagePiece::Role::kAgent) {
  return MessagePiece{role, Json{{"type", "text"}, {"text", text}}, message_id};
}

TEST(EventBatchTest, PiecesOfOneMessageBecomeOneEvent) {
  EventBatch batch;
  batch.Add(EventOf(Piece("a")));
  batch.Add(EventOf(Piece("b")));
  batch.Add(EventOf(Piece("c", "another")));
  batch.Add(EventOf(Piece("d", "another", MessagePiece::Role::kThought)));
  batch.Add(EventOf(Piece("e", "another", MessagePiece::Role::kThought)));
  const auto events = batch.Take();
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[0].agent_message().text(), "ab");
  EXPECT_EQ(events[1].agent_message().message_id(), "another");
  EXPECT_EQ(events[2].agent_thought().text(), "de");
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.bytes(), 0);
}

TEST(EventBatchTest, WhatComesBetweenKeepsPiecesApart) {
  EventBatch batch;
  batch.Add(EventOf(Piece("a")));
  batch.Add(EventOf(ToolCall{.id = "t"}));
  batch.Add(EventOf(Piece("b")));
  EXPECT_EQ(batch.Take().size(), 3);
}

TEST(EventBatchTest, EachStatusOfAToolCallIsSeen) {
  EventBatch batch;
  batch.Add(EventOf(ToolCallChange{.id = "t", .status = "in_progress"}));
  batch.Add(EventOf(ToolCallChange{.id = "t", .title = "Read", .raw_output = 1}));
  batch.Add(EventOf(ToolCallChange{.id = "t", .status = "completed"}));
  batch.Add(EventOf(ToolCallChange{.id = "u", .status = "completed"}));
  const auto events = batch.Take();
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[0].tool_call_update().status(), "in_progress");
  EXPECT_EQ(events[0].tool_call_update().title(), "Read");
  EXPECT_EQ(events[0].tool_call_update().raw_output(), "1");
  EXPECT_EQ(events[1].tool_call_update().status(), "completed");
}

TEST(EventBatchTest, OneCallTakesOnlySoMuch) {
  EventBatch batch;
  const std::string much(EventBatch::kMaxMergedBytes, 'x');
  for (int i = 0; i < 20; ++i) batch.Add(EventOf(Piece(much)));
  size_t taken = 0;
  while (!batch.empty()) {
    size_t bytes = 0;
    for (const auto& event : batch.Take()) {
      bytes += event.ByteSizeLong();
      ++taken;
    }
    EXPECT_LE(bytes, EventBatch::kMaxBytes);
  }
  EXPECT_EQ(taken, 20);
  for (int i = 0; i < 1200; ++i) batch.Add(EventOf(ToolCall{.id = std::to_string(i)}));
  EXPECT_EQ(batch.Take().size(), EventBatch::kMaxEvents);
}

TEST(EventBatchTest, WhatIsTheAgentsStateIsNoEvent) {
  EventBatch batch;
  for (const AgentUpdate& update :
       {AgentUpdate(AvailableCommands{}), AgentUpdate(CurrentMode{}), AgentUpdate(ConfigOptions{}),
        AgentUpdate(SessionTitle{}), AgentUpdate(Usage{}),
        Piece("the user's", "m", MessagePiece::Role::kUser)}) {
    batch.Add(EventOf(update));
  }
  EXPECT_TRUE(batch.empty());
}

TEST(EventBatchTest, WhatIsNotKnownIsKept) {
  const v1::SessionEvent event = EventOf(OtherUpdate{"notice", Json{{"title", "x"}}});
  EXPECT_EQ(event.other().type(), "agent_notice");
  EXPECT_EQ(event.other().data(), R"({"title":"x"})");
  const v1::SessionEvent nothing = EventOf(OtherUpdate{"", Json(7)});
  EXPECT_EQ(nothing.other().data(), "{}");
  const v1::SessionEvent picture = EventOf(
      MessagePiece{MessagePiece::Role::kAgent, Json{{"type", "image"}, {"data", "AA=="}}, ""});
  EXPECT_EQ(picture.other().type(), "agent_content");
}

TEST(EventBatchTest, WhatIsTooLongIsLeftOutAndSaidToBe) {
  const v1::SessionEvent event =
      EventOf(ToolCall{.id = "t",
                       .content = Json::array({std::string(2 * kMaxJsonBytes, 'x')}),
                       .raw_output = std::string(2 * kMaxJsonBytes, 'x')});
  EXPECT_LT(event.ByteSizeLong(), 1000);
  EXPECT_NE(event.tool_call().raw_output().find("left out"), std::string::npos);
  EXPECT_TRUE(Json::parse(event.tool_call().content()).is_array());
}

}  // namespace
}  // namespace callslip::runner
