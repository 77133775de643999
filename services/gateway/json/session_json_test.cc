#include "gateway/json/session_json.h"

#include <string>
#include <tuple>
#include <vector>

#include "common/status_matchers.h"
#include "gateway/json/event_text.h"
#include "gateway/json/json_fields.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

TEST(SessionEventJsonTest, ConsistsOfTypeAndObject) {
  for (const char* text : {
           R"({"type":"agent_message","data":{"text":"\u00e4\n\"x\"","iteration":2}})",
           R"({"type":"other","data":{"a":[{}]}})",
           R"({"type":"file_read","data":{"size":18446744073709551615}})",
       }) {
    const Json json = Json::parse(text);
    const auto event = EventOf(json);
    ASSERT_OK(event) << text;
    const Json back = ToJson(*event);
    EXPECT_EQ(back["type"], json["type"]);
    EXPECT_EQ(back["data"], json["data"]);
  }
}

TEST(SessionEventJsonTest, RefusesInvalidEvents) {
  for (const char* text : {"1", "{}", R"({"type":""})", R"({"type":1,"data":{}})",
                           R"({"type":"error","data":[]})", R"({"type":"error","data":"x"})"}) {
    EXPECT_THAT(EventOf(Json::parse(text)),
                FailsWith(absl::StatusCode::kInvalidArgument, "invalid_field"))
        << text;
  }
}

TEST(SessionEventJsonTest, HasFormatOfLog) {
  v1::SessionEvent event;
  event.set_seq(7);
  event.mutable_time()->set_seconds(1'769'947'200);
  event.set_type("strange \"type\"");
  event.set_data(R"({"b": 1.0,"a":[1e300]})");
  const std::string text =
      R"({"seq":7,"timestamp":"2026-02-01T12:00:00.000Z","type":"strange \"type\"",)"
      R"("data":{"b": 1.0,"a":[1e300]}})";
  EXPECT_EQ(EventText(event), text);
  EXPECT_EQ(ToJson(event), Json::parse(text));
}

TEST(SessionEventJsonTest, PageContainsEventsAndMaxSeq) {
  v1::ReadEventsResponse page;
  EXPECT_EQ(Json::parse(PageText(page, 0))["events"], Json::array());
  for (const int64_t seq : {7, 8}) {
    v1::SessionEvent& event = *page.add_events();
    event.set_seq(seq);
    event.set_type("usage");
    event.set_data(Dump({{"text", std::string(seq == 7 ? 1 : 5000, 'x')}}));
  }
  page.set_max_seq(9);
  const Json whole = Json::parse(PageText(page, 0, "r-1"));
  EXPECT_EQ(whole["events"][0], ToJson(page.events(0)));
  EXPECT_EQ(whole["events"][1]["data"]["text"].get<std::string>().size(), 5000u);
  EXPECT_EQ(whole["max_seq"], 9);
  EXPECT_EQ(whole["request_id"], "r-1");
  const Json cut = Json::parse(PageText(page, 2000));
  EXPECT_EQ(cut["events"][0], ToJson(page.events(0)));
  EXPECT_GT(cut["events"][1]["omitted_bytes"], 3000);
  EXPECT_FALSE(cut.contains("request_id"));
}

TEST(AgentTextJsonTest, OffsetIsOptional) {
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

TEST(QueueJsonTest, MessagesHaveDocumentedFormat) {
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

TEST(QueueJsonTest, NoticeTypeFollowsQueueAction) {
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

TEST(QueueJsonTest, ReadsDelayInSeconds) {
  for (const auto& [text, seconds, nanos] :
       std::vector<std::tuple<std::string, int64_t, int32_t>>{{"1.5", 1, 500'000'000},
                                                              {"2.3", 2, 300'000'000},
                                                              {"0.9999999999", 1, 0},
                                                              {"0", 0, 0},
                                                              {"86400", 86'400, 0}}) {
    JsonFields fields = JsonFields::OfBody(R"({"enabled":false,"delay_seconds":)" + text + "}");
    v1::ConfigureQueueRequest request;
    ReadFields(fields, request);
    ASSERT_OK(fields.status());
    EXPECT_EQ(request.settings().delay().seconds(), seconds) << text;
    EXPECT_EQ(request.settings().delay().nanos(), nanos) << text;
    EXPECT_FALSE(request.settings().enabled());
  }
}

}  // namespace
}  // namespace callslip::gateway
