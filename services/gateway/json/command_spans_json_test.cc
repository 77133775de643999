#include "gateway/json/command_spans_json.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/command_trace.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;

constexpr char kRegistered[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

tracker::v1::Command Made(const std::vector<std::string>& stages) {
  tracker::v1::Command command;
  command.set_command_id("c");
  command.set_type("execute_js");
  command.set_target("browser");
  int seconds = 0;
  for (const std::string& stage : stages) {
    auto& entry = *command.add_trace();
    entry.set_stage(stage);
    entry.mutable_time()->set_seconds(++seconds);
    if (stage == "sent") command.set_attempt(command.attempt() + 1);
  }
  return command;
}

std::string IdOf(const std::string& part) {
  return absl::BytesToHexString(
      SpanOfCommand(*TraceContext::Parse(kRegistered), "c", part).span_id());
}

TEST(CommandSpansTest, ReturnedDeliveryIsFollowedByAnotherQueueSpan) {
  const Json spans = CommandSpans(Made({"queued", "sent", "started", "returned", "sent"}));
  std::vector<std::string> names;
  for (const Json& span : spans) {
    names.push_back(span["name"].get<std::string>() + (span.contains("end") ? "" : " …"));
    EXPECT_FALSE(span.contains("span_id"));
  }
  EXPECT_THAT(names, ElementsAre("command execute_js …", "queue browser", "process browser",
                                 "execute execute_js", "queue browser", "process browser …"));
}

TEST(CommandSpansTest, SpanIdsMatchThoseOfTracker) {
  tracker::v1::Command command = Made({"queued", "sent", "started", "resolved"});
  command.set_traceparent(
      SpanOfCommand(*TraceContext::Parse(kRegistered), "c", "command").ToString());
  const Json spans = CommandSpans(command);
  std::vector<std::string> ids;
  for (const Json& span : spans) {
    ids.push_back(span["span_id"]);
    EXPECT_TRUE(span.contains("end"));
  }
  EXPECT_THAT(ids,
              ElementsAre(IdOf("command"), IdOf("queue 1"), IdOf("process 1"), IdOf("execute 1")));
  EXPECT_EQ(spans[3]["parent_span_id"], IdOf("process 1"));
}

TEST(CommandSpansTest, WorkSpanIsChildOfItsDelivery) {
  tracker::v1::Command command = Made({"queued", "sent", "resolved"});
  command.set_traceparent(
      SpanOfCommand(*TraceContext::Parse(kRegistered), "c", "command").ToString());
  command.mutable_work_begin_time()->set_seconds(2);
  command.mutable_work_end_time()->set_seconds(3);
  const Json work = CommandSpans(command).back();
  EXPECT_EQ(work["name"], "work execute_js");
  EXPECT_EQ(work["span_id"], IdOf("work 1"));
  EXPECT_EQ(work["parent_span_id"], IdOf("process 1"));
  EXPECT_EQ(work["start"], "1970-01-01T00:00:02.000Z");
  EXPECT_EQ(work["end"], "1970-01-01T00:00:03.000Z");
}

TEST(CommandSpansTest, UnrecordedSpansHaveNoIds) {
  tracker::v1::Command command = Made({"queued"});
  command.set_traceparent(kRegistered);
  EXPECT_FALSE(CommandSpans(command)[0].contains("span_id"));
  EXPECT_TRUE(CommandSpans({}).empty());
}

}  // namespace
}  // namespace callslip::gateway
