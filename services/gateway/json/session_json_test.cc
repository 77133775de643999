#include "gateway/json/session_json.h"

#include <string>

#include "common/status_matchers.h"
#include "gateway/json/json_fields.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

// The data of each type, with all members and with only those that have to be there.
constexpr const char* kEvents[] = {
    R"({"type":"session_start","data":{"session_id":"s-1","acp_server":"a","working_dir":"/w"}})",
    R"({"type":"session_end","data":{"reason":"done","event_count":7}})",
    R"({"type":"session_end","data":{"reason":"done"}})",
    R"({"type":"user_prompt","data":{"message":"hi","prompt_id":"p","queue_id":"q-1-00000000",
        "images":[{"id":"i","name":"n","mime_type":"image/png"}]}})",
    R"({"type":"user_prompt","data":{"message":"hi"}})",
    R"({"type":"agent_message","data":{"text":"ä\n\"x\""}})",
    R"({"type":"agent_message","data":{"text":"x","iteration":2,"message_id":"m"}})",
    R"({"type":"agent_thought","data":{"text":""}})",
    R"({"type":"agent_thought","data":{"text":"x","message_id":"m"}})",
    R"({"type":"tool_call","data":{"tool_call_id":"t","title":"T","status":"pending","kind":"read",
        "raw_input":{"a":[1,null]},"raw_output":"text"}})",
    R"({"type":"tool_call","data":{"tool_call_id":"t","title":"T","status":"pending"}})",
    R"({"type":"tool_call","data":{"tool_call_id":"t","title":"T","status":"pending","name":"edit",
        "content":[{"type":"diff","path":"/a","newText":"x"}],"locations":[{"path":"/a"}]}})",
    R"({"type":"tool_call_update","data":{"tool_call_id":"t","kind":"edit","raw_input":{},
        "raw_output":[1],"content":[],"locations":[{"path":"/a","line":3}]}})",
    R"({"type":"tool_call_update","data":{"tool_call_id":"t","status":"completed","title":""}})",
    R"({"type":"tool_call_update","data":{"tool_call_id":"t"}})",
    R"({"type":"plan","data":{"entries":[{"content":"c","priority":"high","status":"pending"}]}})",
    R"({"type":"plan","data":{"entries":[]}})",
    R"({"type":"permission","data":{"title":"t","selected_option":"o","outcome":"selected"}})",
    R"({"type":"permission","data":{"title":"t","selected_option":"o","outcome":"selected",
        "permission_id":"p","tool_call_id":"c","decided_by":"person"}})",
    R"({"type":"file_read","data":{"path":"/a","size":9007199254740993}})",
    R"({"type":"file_write","data":{"path":"/a","size":0}})",
    R"({"type":"error","data":{"message":"m","code":"c"}})",
    R"({"type":"error","data":{"message":"m"}})",
};

TEST(SessionEventJsonTest, ConvertsAllTwelveTypesBothWays) {
  for (const char* text : kEvents) {
    const Json json = Json::parse(text);
    const auto event = EventOf(json);
    ASSERT_OK(event) << text;
    EXPECT_FALSE(event->has_other()) << text;
    const Json back = ToJson(*event);
    EXPECT_EQ(back["type"], json["type"]);
    EXPECT_EQ(back["data"], json["data"]);
  }
}

TEST(SessionEventJsonTest, KeepsWhatItDoesNotKnow) {
  for (const char* text : {
           R"({"type":"other","data":{"a":1}})",
           R"({"type":"seq","data":{"a":[{}]}})",
           R"({"type":"agent_message","data":{"text":"x","html":true}})",
           R"({"type":"agent_message","data":{"text":1}})",
           R"({"type":"agent_message","data":{}})",
           R"({"type":"file_read","data":{"path":"/a","size":1.5}})",
           R"({"type":"file_read","data":{"path":"/a","size":18446744073709551615}})",
           R"({"type":"plan","data":{"entries":[{"content":"c"}]}})",
           R"({"type":"user_prompt","data":{"message":"m","images":[]}})",
       }) {
    const Json json = Json::parse(text);
    const auto event = EventOf(json);
    ASSERT_OK(event) << text;
    EXPECT_TRUE(event->has_other()) << text;
    const Json back = ToJson(*event);
    EXPECT_EQ(back["type"], json["type"]);
    EXPECT_EQ(back["data"], json["data"]);
  }
}

TEST(SessionEventJsonTest, RefusesWhatIsNoEvent) {
  for (const char* text : {"1", "{}", R"({"type":""})", R"({"type":1,"data":{}})",
                           R"({"type":"error","data":[]})", R"({"type":"error","data":"x"})"}) {
    EXPECT_THAT(EventOf(Json::parse(text)),
                FailsWith(absl::StatusCode::kInvalidArgument, "invalid_field"))
        << text;
  }
}

TEST(SessionEventJsonTest, HasTheShapeOfALog) {
  v1::SessionEvent event;
  event.set_seq(7);
  event.mutable_time()->set_seconds(1'769'947'200);
  event.mutable_agent_message()->set_text("x");
  EXPECT_EQ(ToJson(event), Json::parse(R"({"seq":7,"type":"agent_message",
      "timestamp":"2026-02-01T12:00:00.000Z","data":{"text":"x"}})"));
}

TEST(AgentTextJsonTest, AnOffsetIsPassedOnAndItsAbsenceIsNone) {
  v1::AddAgentTextRequest request;
  const Json with = Json::parse(R"({"iteration":2,"text":"x","offset":0})");
  JsonFields fields = JsonFields::OfObject(with);
  ReadFields(fields, request);
  ASSERT_OK(fields.status());
  EXPECT_TRUE(request.has_offset());
  v1::AddAgentTextRequest other;
  const Json without = Json::parse(R"({"text":"x"})");
  JsonFields fewer = JsonFields::OfObject(without);
  ReadFields(fewer, other);
  EXPECT_FALSE(other.has_offset());
  v1::AddAgentTextResponse added;
  added.set_length(7);
  EXPECT_EQ(ToJson(added), Json::parse(R"({"commands":[],"length":7})"));
}

TEST(QueueJsonTest, HasTheShapesOfTheQueue) {
  v1::QueuedMessage message;
  message.set_message_id("q-1738396800-abc12345");
  message.set_message("hi");
  message.mutable_queue_time()->set_seconds(1'769'947'200);
  EXPECT_EQ(QueuedJson(message), Json::parse(R"({"id":"q-1738396800-abc12345","message":"hi",
      "queued_at":"2026-02-01T12:00:00.000Z"})"));
  v1::ListMessagesResponse listed;
  *listed.add_messages() = message;
  EXPECT_EQ(ToJson(listed)["count"], 1);
  EXPECT_EQ(ToJson(listed)["messages"][0]["image_ids"], Json::array());
}

TEST(QueueJsonTest, NamesTheNoticesAsTheyWere) {
  v1::SessionUpdate update;
  auto* queue = update.mutable_queue();
  queue->set_action("added");
  queue->set_message_id("q-1");
  queue->set_queue_length(2);
  EXPECT_EQ(ToMessage(update), Json::parse(R"({"type":"queue_updated",
      "data":{"queue_length":2,"action":"added","message_id":"q-1"}})"));
  queue->set_action("sending");
  EXPECT_EQ(ToMessage(update)["type"], "queue_message_sending");
  EXPECT_EQ(ToMessage(update)["data"]["message_id"], "q-1");
  queue->set_action("sent");
  EXPECT_EQ(ToMessage(update)["type"], "queue_message_sent");
}

TEST(QueueJsonTest, ReadsADelayAsSeconds) {
  JsonFields fields = JsonFields::OfBody(R"({"enabled":false,"delay_seconds":1.5})");
  v1::ConfigureQueueRequest request;
  ReadFields(fields, request);
  ASSERT_OK(fields.status());
  EXPECT_EQ(request.settings().delay().seconds(), 1);
  EXPECT_EQ(request.settings().delay().nanos(), 500'000'000);
  EXPECT_FALSE(request.settings().enabled());
}

}  // namespace
}  // namespace callslip::gateway
