#include "runner/session/event_batch.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "support/session_events.h"

namespace callslip::runner {
namespace {

AgentUpdate Piece(const std::string& text, const std::string& message_id = "m",
                  MessagePiece::Role role = MessagePiece::Role::kAgent) {
  return MessagePiece{role, Json{{"type", "text"}, {"text", text}}, message_id};
}

void Add(EventBatch& batch, const AgentUpdate& update) {
  for (NewEvent& event : EventsOf(update)) batch.Add(std::move(event));
}

v1::SessionEvent EventOf(const AgentUpdate& update) { return EventsOf(update).at(0).ToProto(); }

TEST(EventBatchTest, PiecesOfOneMessageBecomeOneEvent) {
  EventBatch batch;
  Add(batch, Piece("a\"\n"));
  Add(batch, Piece("b\u20ac"));
  Add(batch, Piece("c", "another"));
  Add(batch, Piece("d", "another", MessagePiece::Role::kThought));
  Add(batch, Piece("e", "another", MessagePiece::Role::kThought));
  const auto events = batch.Take();
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[0].type(), "agent_message");
  EXPECT_EQ(MemberOf(events[0], "text"), "a\"\nb\u20ac");
  EXPECT_EQ(MemberOf(events[1], "message_id"), "another");
  EXPECT_EQ(events[2].type(), "agent_thought");
  EXPECT_EQ(MemberOf(events[2], "text"), "de");
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.bytes(), 0);
}

TEST(EventBatchTest, InterveningUpdateKeepsPiecesApart) {
  EventBatch batch;
  Add(batch, Piece("a"));
  Add(batch, ToolCall{.id = "t"});
  Add(batch, Piece("b"));
  EXPECT_EQ(batch.Take().size(), 3);
}

TEST(EventBatchTest, PiecesOfTwoAnswersStayApart) {
  EventBatch batch;
  for (const int iteration : {1, 1, 2}) {
    for (NewEvent& event : EventsOf(Piece("a"))) {
      event.Set("iteration", iteration);
      batch.Add(std::move(event));
    }
  }
  const auto events = batch.Take();
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(MemberOf(events[0], "text"), "aa");
  EXPECT_EQ(MemberOf(events[1], "iteration"), "2");
}

TEST(EventBatchTest, EachToolCallStatusIsRetained) {
  EventBatch batch;
  Add(batch, ToolCallChange{.id = "t", .status = "in_progress"});
  Add(batch, ToolCallChange{.id = "t", .title = "Read", .raw_output = 1});
  Add(batch, ToolCallChange{.id = "t", .status = "completed"});
  Add(batch, ToolCallChange{.id = "u", .status = "completed"});
  const auto events = batch.Take();
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[0].data(),
            R"({"tool_call_id":"t","status":"in_progress","title":"Read","raw_output":1})");
  EXPECT_EQ(MemberOf(events[1], "status"), "completed");
}

TEST(EventBatchTest, TakeReturnsLimitedBytesAndEvents) {
  EventBatch batch;
  const std::string much(EventBatch::kMaxMergedBytes, 'x');
  for (int i = 0; i < 20; ++i) Add(batch, Piece(much));
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
  for (int i = 0; i < 1200; ++i) Add(batch, ToolCall{.id = std::to_string(i)});
  EXPECT_EQ(batch.Take().size(), EventBatch::kMaxEvents);
}

TEST(EventBatchTest, AgentStateUpdatesBecomeNoEvents) {
  for (const AgentUpdate& update :
       {AgentUpdate(AvailableCommands{}), AgentUpdate(CurrentMode{}), AgentUpdate(ConfigOptions{}),
        AgentUpdate(SessionTitle{}), AgentUpdate(Usage{}),
        Piece("the user's", "m", MessagePiece::Role::kUser)}) {
    EXPECT_TRUE(EventsOf(update).empty());
  }
}

TEST(EventBatchTest, UnknownUpdatesAreRetained) {
  const v1::SessionEvent event = EventOf(OtherUpdate{"notice", Json{{"title", "x"}}});
  EXPECT_EQ(event.type(), "agent_notice");
  EXPECT_EQ(event.data(), R"({"title":"x"})");
  EXPECT_EQ(EventOf(OtherUpdate{"", Json(7)}).data(), "{}");
  const v1::SessionEvent picture = EventOf(
      MessagePiece{MessagePiece::Role::kAgent, Json{{"type", "image"}, {"data", "AA=="}}, ""});
  EXPECT_EQ(picture.type(), "agent_content");
}

TEST(EventBatchTest, UnknownUpdateDoesNotBecomeMessage) {
  for (const char* kind : {"message", "thought"}) {
    EventBatch batch;
    Add(batch, Piece("an answer"));
    Add(batch, OtherUpdate{kind, Json{{"text", {{"a", 1}}}, {"iteration", 7}}});
    Add(batch, Piece("more"));
    const auto events = batch.Take();
    ASSERT_EQ(events.size(), 3);
    EXPECT_EQ(MemberOf(events[0], "text"), "an answer");
    EXPECT_EQ(events[1].type(), "agent_update");
    EXPECT_EQ(MemberOf(events[2], "text"), "more");
  }
}

TEST(EventBatchTest, TooLongValuesAreMarkedAsOmitted) {
  const v1::SessionEvent event =
      EventOf(ToolCall{.id = "t",
                       .content = Json::array({std::string(2 * kMaxJsonBytes, 'x')}),
                       .raw_output = std::string(2 * kMaxJsonBytes, 'x')});
  EXPECT_LT(event.ByteSizeLong(), 1000);
  EXPECT_NE(MemberOf(event, "raw_output").find("omitted"), std::string::npos);
  EXPECT_TRUE(DataOf(event)["content"].is_array());
}

// Updates of every kind. Each member is larger than the tracker accepts, and its characters have
// several bytes, which must not be cut.
std::vector<AgentUpdate> UpdatesThatAreTooLarge() {
  std::string huge;
  while (huge.size() < (size_t{5} << 20)) huge += "\u20ac";
  Json many = Json::array();
  for (int i = 0; i < 250'000; ++i) many.push_back(0);
  const Json deep = Json{{"a", huge}};
  std::vector<AgentUpdate> updates;
  for (const auto role : {MessagePiece::Role::kAgent, MessagePiece::Role::kThought}) {
    updates.push_back(Piece(huge, huge, role));
    updates.push_back(MessagePiece{role, deep, huge});
  }
  for (const Json& json : {Json(huge), many, deep}) {
    updates.push_back(ToolCall{huge, huge, huge, huge, huge, json, json, json, json});
    updates.push_back(ToolCallChange{huge, huge, huge, huge, huge, json, json, json, json});
    updates.push_back(OtherUpdate{huge, Json{{"data", json}}});
  }
  Plan plan;
  plan.entries.push_back({huge, huge, huge});
  const std::string long_text = huge.substr(0, 30'000);
  for (int i = 0; i < 1000; ++i) plan.entries.push_back({long_text, "high", "pending"});
  updates.push_back(plan);
  return updates;
}

// Against the tracker's own limits.
void ExpectTaken(const v1::SessionEvent& event) {
  EXPECT_LE(event.type().size(), 64u);
  const Json data = DataOf(event);
  ASSERT_TRUE(data.is_object()) << event.type();
  EXPECT_LE(data.flatten().size(), 200'000u) << event.type();
  for (const auto& [name, value] : data.items()) {
    if (!value.is_string()) continue;
    const bool is_word =
        name == "kind" || name == "status" || name.find("_id") != std::string::npos;
    EXPECT_LE(value.get<std::string>().size(), is_word ? 1024u : 2u << 20) << name;
  }
}

TEST(EventBatchTest, TooLargeUpdatesAreReducedToTrackerLimits) {
  for (const AgentUpdate& update : UpdatesThatAreTooLarge()) {
    EventBatch batch;
    Add(batch, update);
    size_t events = 0;
    while (!batch.empty()) {
      for (const v1::SessionEvent& event : batch.Take()) {
        ++events;
        EXPECT_LE(event.ByteSizeLong(), (4u << 20) - 4096) << update.index();
        ExpectTaken(event);
      }
    }
    EXPECT_GT(events, 0u) << update.index();
    EXPECT_EQ(batch.bytes(), 0u);
  }
}

TEST(EventBatchTest, LongTextBecomesSeveralEventsOfOneMessage) {
  std::string text;
  for (int i = 0; text.size() < 3 * EventBatch::kMaxMergedBytes; ++i) {
    text += std::to_string(i) + "\u20ac";
  }
  EventBatch batch;
  Add(batch, Piece(text));
  std::string together;
  for (const v1::SessionEvent& event : batch.Take()) {
    EXPECT_EQ(MemberOf(event, "message_id"), "m");
    EXPECT_LE(MemberOf(event, "text").size(), EventBatch::kMaxMergedBytes);
    together += MemberOf(event, "text");
  }
  EXPECT_EQ(together, text);
}

TEST(EventBatchTest, ShortenedIdsStayDistinct) {
  const std::string long_id(2000, 'i');
  EXPECT_EQ(IdText("c1"), "c1");
  EXPECT_EQ(IdText(std::string(kMaxIdBytes, 'i')), std::string(kMaxIdBytes, 'i'));
  EXPECT_EQ(IdText(long_id), IdText(long_id));
  EXPECT_NE(IdText(long_id), IdText(long_id + "x"));
  EXPECT_LE(IdText(long_id).size(), kMaxIdBytes);
}

}  // namespace
}  // namespace callslip::runner
