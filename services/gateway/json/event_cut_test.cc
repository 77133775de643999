#include "gateway/json/event_cut.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

// An event as ToJson() makes it.
Json EventWith(Json data, const std::string& type = "tool_call_update") {
  return {{"seq", 7},
          {"timestamp", "2026-02-01T12:00:00.000Z"},
          {"type", type},
          {"data", std::move(data)}};
}

TEST(EventCutTest, EventWithinBoundIsUnchanged) {
  Json event = EventWith({{"tool_call_id", "call-1"}, {"raw_output", std::string(900, 'x')}});
  const Json before = event;
  EXPECT_EQ(CutEvent(1024, event), Dump(event).size());
  EXPECT_EQ(event, before);
}

TEST(EventCutTest, LongStringsAreTruncatedToEqualLength) {
  Json event = EventWith({{"tool_call_id", "toolu_0123456789012345678901"},
                          {"status", "completed"},
                          {"title", std::string(500, 't')},
                          {"raw_output",
                           {{"stdout", std::string(1 << 20, 'o')},
                            {"lines", {std::string(100'000, 'a'), "b"}},
                            {"exit_code", 0}}}});
  const size_t before = Dump(event).size();
  const size_t size = CutEvent(4096, event);
  EXPECT_EQ(size, Dump(event).size());
  EXPECT_LE(size, 4096u);
  EXPECT_GT(size, 4000u);
  const Json& data = event["data"];
  EXPECT_EQ(data["tool_call_id"], "toolu_0123456789012345678901");
  EXPECT_EQ(data["status"], "completed");
  EXPECT_EQ(data["title"], std::string(500, 't'));
  EXPECT_EQ(data["raw_output"]["exit_code"], 0);
  EXPECT_EQ(data["raw_output"]["lines"][1], "b");
  const auto out = data["raw_output"]["stdout"].get<std::string>();
  EXPECT_GT(out.size(), 1000u);
  EXPECT_EQ(data["raw_output"]["lines"][0].get<std::string>().size(), out.size());
  const size_t omitted = event["omitted_bytes"].get<size_t>();
  event.erase("omitted_bytes");
  EXPECT_EQ(Dump(event).size() + omitted, before);
}

TEST(EventCutTest, TruncatesAtCharacterBoundaries) {
  for (const char* unit :
       {"\u00f6", "\u20ac", "\u2028", "\U0001F600", "\"", "\n", "\x01", "\\", "x\u00f6"}) {
    for (int shift = 0; shift < 4; ++shift) {
      std::string text(static_cast<size_t>(shift), 'y');
      while (text.size() < 10'000) text += unit;
      Json event = EventWith({{"text", text}}, "agent_message");
      EXPECT_LE(CutEvent(1024, event), 1024u);
      const auto cut = event["data"]["text"].get<std::string>();
      EXPECT_EQ(text.substr(0, cut.size()), cut);
      EXPECT_GT(cut.size(), 100u);
      // Whole characters only: nothing had to be replaced.
      const absl::StatusOr<Json> parsed = ParseJson(Dump(event));
      ASSERT_OK(parsed);
      EXPECT_EQ((*parsed)["data"]["text"], cut);
    }
  }
}

TEST(EventCutTest, OmitsLargestMembersIfThereAreTooManyValues) {
  Json lines = Json::array();
  for (int i = 0; i < 5000; ++i) lines.push_back(i);
  Json event = EventWith({{"tool_call_id", "call-1"},
                          {"title", std::string(5000, 't')},
                          {"raw_output", {{"lines", lines}}},
                          {"content", {{{"type", "content"}}}}});
  EXPECT_LE(CutEvent(1024, event), 1024u);
  const Json& data = event["data"];
  EXPECT_EQ(data["tool_call_id"], "call-1");
  EXPECT_FALSE(data.contains("raw_output"));
  EXPECT_EQ(data["content"][0]["type"], "content");
  EXPECT_GT(data["title"].get<std::string>().size(), 500u);
  EXPECT_GT(event["omitted_bytes"], 20'000);
}

TEST(EventCutTest, BoundsAnyEvent) {
  Json many = Json::object();
  for (int i = 0; i < 2000; ++i) many[absl::StrCat("member ", i)] = std::string(100, 'x');
  Json deep = std::string(5000, 'd');
  for (int i = 0; i < 50; ++i) deep = Json::array({deep});
  const Json data[] = {many, {{"deep", deep}}, {{std::string(5000, 'k'), 1}}, Json::object()};
  for (const Json& each : data) {
    for (const std::string& type : {std::string("other"), std::string(5000, 't')}) {
      Json event = EventWith(each, type);
      EXPECT_LE(CutEvent(1024, event), 1024u) << Dump(each).substr(0, 80);
      EXPECT_EQ(event["seq"], 7);
      EXPECT_TRUE(event["data"].is_object());
    }
  }
}

TEST(EventCutTest, ReadsBoundFromRequest) {
  const auto read = [](const std::string& value) {
    JsonFields fields = JsonFields::OfQuery({{"max_event_bytes", value}});
    const size_t bytes = ReadMaxEventBytes(fields);
    return fields.status().ok() ? static_cast<int>(bytes) : -1;
  };
  EXPECT_EQ(read("1024"), 1024);
  EXPECT_EQ(read("4194304"), 4194304);
  EXPECT_EQ(read("1e4"), 10000);
  for (const char* bad : {"0", "1023", "4194305", "-1", "x", "1024.5"})
    EXPECT_EQ(read(bad), -1) << bad;
  JsonFields none = JsonFields::OfQuery({});
  EXPECT_EQ(ReadMaxEventBytes(none), 0u);
  EXPECT_OK(none.status());
}

}  // namespace
}  // namespace callslip::gateway
