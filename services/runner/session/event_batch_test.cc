#include "runner/session/event_batch.h"

#include <string>
#include <vector>

#include "common/text_scan.h"
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

// Of every kind, with more in each member than the tracker takes, and no character that may be cut.
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

// Every field of the event, those of its members included, against the tracker's own limits.
void ExpectTaken(const google::protobuf::Message& message) {
  const auto* reflection = message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const auto* field : fields) {
    const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    EXPECT_LE(count, 1000) << field->full_name();
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
        ExpectTaken(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                         : reflection->GetMessage(message, field));
      }
      if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_STRING) continue;
      const std::string text = field->is_repeated()
                                   ? reflection->GetRepeatedString(message, field, i)
                                   : reflection->GetString(message, field);
      EXPECT_TRUE(IsUtf8(text)) << field->full_name();
      const std::string& name = field->name();
      const bool is_word = name == "kind" || name == "status" || name == "priority" ||
                           name == "type" || name.find("_id") != std::string::npos;
      EXPECT_LE(text.size(), is_word ? 1024u : 2u << 20) << field->full_name();
      if (text.empty() || (text[0] != '[' && text[0] != '{')) continue;
      const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
      if (json.is_discarded()) continue;
      EXPECT_LE(json.flatten().size(), 200'000u) << field->full_name();
    }
  }
}

TEST(EventBatchTest, WhateverAnAgentSaysIsTakenByTheTracker) {
  for (const AgentUpdate& update : UpdatesThatAreTooLarge()) {
    EventBatch batch;
    batch.Add(EventOf(update));
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

TEST(EventBatchTest, LongTextIsSeveralEventsOfOneMessage) {
  std::string text;
  for (int i = 0; text.size() < 3 * EventBatch::kMaxMergedBytes; ++i) {
    text += std::to_string(i) + "\u20ac";
  }
  EventBatch batch;
  batch.Add(EventOf(Piece(text)));
  std::string together;
  for (const v1::SessionEvent& event : batch.Take()) {
    EXPECT_EQ(event.agent_message().message_id(), "m");
    EXPECT_LE(event.agent_message().text().size(), EventBatch::kMaxMergedBytes);
    together += event.agent_message().text();
  }
  EXPECT_EQ(together, text);
}

TEST(EventBatchTest, LongIdsAreStillToldFromOthers) {
  const std::string long_id(2000, 'i');
  EXPECT_EQ(IdText("c1"), "c1");
  EXPECT_EQ(IdText(std::string(kMaxIdBytes, 'i')), std::string(kMaxIdBytes, 'i'));
  EXPECT_EQ(IdText(long_id), IdText(long_id));
  EXPECT_NE(IdText(long_id), IdText(long_id + "x"));
  EXPECT_LE(IdText(long_id).size(), kMaxIdBytes);
}

}  // namespace
}  // namespace callslip::runner
