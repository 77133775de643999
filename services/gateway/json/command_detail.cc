#include "gateway/json/command_detail.h"

#include <utility>

#include "gateway/json/command_json.h"
#include "gateway/json/command_spans_json.h"

namespace callslip::gateway {
namespace {

Json TraceEntries(const v1::Command& command) {
  Json entries = Json::array();
  for (const v1::TraceEntry& entry : command.trace()) {
    entries.push_back(
        {{"stage", entry.stage()}, {"time", WireTime(entry.time())}, {"source", entry.source()}});
    if (!entry.worker_id().empty()) entries.back()["worker"] = entry.worker_id();
  }
  return entries;
}

// The deadlines that apply.
Json DeadlinesMs(const v1::CommandDeadlines& deadlines) {
  Json clocks = Json::object();
  const auto add = [&](const char* name, bool applies, const google::protobuf::Duration& clock) {
    if (applies) clocks[name] = absl::ToInt64Milliseconds(DurationOf(clock));
  };
  add("schedule_to_start", deadlines.has_schedule_to_start(), deadlines.schedule_to_start());
  add("ack_wait", deadlines.has_ack_wait(), deadlines.ack_wait());
  add("heartbeat_timeout", deadlines.has_heartbeat_timeout(), deadlines.heartbeat_timeout());
  add("start_to_close", deadlines.has_start_to_close(), deadlines.start_to_close());
  add("schedule_to_close", deadlines.has_schedule_to_close(), deadlines.schedule_to_close());
  add("result_retention", deadlines.has_result_retention(), deadlines.result_retention());
  return clocks;
}

}  // namespace

Json CommandRow(const v1::Command& command) {
  Json row = CommandAnswer(command);
  row["client"] = command.client_id();
  row["target"] = command.target();
  row["command"] = command.type();
  for (const auto& [name, text] :
       {std::pair("session", &command.label()), std::pair("request_id", &command.request_id()),
        std::pair("ordering_key", &command.ordering_key()),
        std::pair("replay_of", &command.replay_of())}) {
    if (!text->empty()) row[name] = *text;
  }
  row["revision"] = command.revision();
  row["attempt"] = command.attempt();
  row["priority"] = command.priority();
  row["idempotent"] = command.idempotent();
  row["created_at"] = WireTime(command.register_time());
  if (command.has_deliver_time()) row["delivered_at"] = WireTime(command.deliver_time());
  if (command.has_start_time()) row["started_at"] = WireTime(command.start_time());
  if (command.has_not_before()) row["not_before"] = WireTime(command.not_before());
  row["trace"] = TraceEntries(command);
  return row;
}

Json CommandDetail(const v1::Command& command) {
  Json detail = CommandRow(command);
  detail["params"] = JsonOrText(command.params());
  if (command.result().size() > kMaxInlineResultBytes) {
    detail["result_bytes"] = command.result().size();
  } else if (!command.result().empty()) {
    detail["result"] = JsonOrText(command.result());
  }
  detail["deadlines_ms"] = DeadlinesMs(command.deadlines());
  if (!command.traceparent().empty()) detail["traceparent"] = command.traceparent();
  detail["spans"] = CommandSpans(command);
  return detail;
}

}  // namespace callslip::gateway
