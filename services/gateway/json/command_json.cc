#include "gateway/json/command_json.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "auth/sha256.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

// The member for the time when a command ended, by how it ended.
absl::string_view EndTimeName(v1::CommandState state) {
  switch (state) {
    case v1::COMMAND_STATE_COMPLETED: return "completed_at";
    case v1::COMMAND_STATE_EXPIRED: return "expired_at";
    case v1::COMMAND_STATE_CANCELLED: return "cancelled_at";
    default: return "failed_at";
  }
}

int64_t DurationMs(const v1::Command& command) {
  return absl::ToInt64Milliseconds(TimeOf(command.end_time()) - TimeOf(command.register_time()));
}

// Puts tab_id and url among the answer's own members. The rest of the worker's report about where
// it ran is kept apart, because its names are arbitrary.
void AddContext(const v1::Command& command, Json& answer) {
  if (command.context().empty()) return;
  Json context = JsonOrText(command.context());
  if (!context.is_object()) return;
  const auto lift = [&](const char* name, bool fits) {
    if (!fits) return;
    answer[name] = std::move(context[name]);
    context.erase(name);
  };
  lift("tab_id", MemberOf(context, "tab_id").is_number_integer());
  lift("url", MemberOf(context, "url").is_string());
  if (!context.empty()) answer["context"] = std::move(context);
}

void AddError(const v1::CommandError& error, Json& answer) {
  answer["error"] = error.code();
  answer["message"] = error.message();
  if (!error.hint().empty()) answer["hint"] = error.hint();
  answer["may_have_executed"] = error.may_have_executed();
}

// An identifier that distinguishes the agents whose commands a browser executes, and reveals
// nothing else about them.
std::string CallerOf(const v1::Command& command) {
  constexpr size_t kBytes = 6;
  const Sha256Digest digest =
      Sha256(absl::StrCat("caller\n", command.client_id(), "\n", command.label()));
  return absl::BytesToHexString(AsBytes(digest).substr(0, kBytes));
}

}  // namespace

absl::Time TimeOf(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

absl::Duration DurationOf(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::string_view StageOf(v1::CommandState state) {
  switch (state) {
    case v1::COMMAND_STATE_QUEUED: return "queued";
    case v1::COMMAND_STATE_DELIVERED: return "delivered";
    default: return "running";
  }
}

bool IsFinal(v1::CommandState state) { return state >= v1::COMMAND_STATE_COMPLETED; }

absl::string_view WireStatus(v1::CommandState state) {
  switch (state) {
    case v1::COMMAND_STATE_COMPLETED: return "complete";
    case v1::COMMAND_STATE_FAILED: return "error";
    case v1::COMMAND_STATE_TIMED_OUT: return "timeout";
    case v1::COMMAND_STATE_EXPIRED: return "expired";
    case v1::COMMAND_STATE_CANCELLED: return "cancelled";
    default: return "pending";
  }
}

std::string WireTime(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", TimeOf(time), absl::UTCTimeZone());
}

Json CommandAnswer(const v1::Command& command) {
  Json answer;
  answer["status"] = std::string(WireStatus(command.state()));
  answer["final"] = IsFinal(command.state());
  answer["correlation_id"] = command.command_id();
  if (!IsFinal(command.state())) {
    answer["stage"] = std::string(StageOf(command.state()));
    answer["created_at"] = WireTime(command.register_time());
    if (command.has_progress()) {
      answer["progress"] = {{"fraction", command.progress().fraction()},
                            {"message", command.progress().message()}};
    }
    AddContext(command, answer);
    return answer;
  }
  if (command.has_error()) AddError(command.error(), answer);
  answer[std::string(EndTimeName(command.state()))] = WireTime(command.end_time());
  answer["duration_ms"] = DurationMs(command);
  if (command.late_result().size() > kMaxInlineResultBytes) {
    answer["late_result_bytes"] = command.late_result().size();
  } else if (!command.late_result().empty()) {
    answer["late_result"] = JsonOrText(command.late_result());
  }
  AddContext(command, answer);
  return answer;
}

Json PendingEntry(const v1::Command& command) {
  return {{"correlation_id", command.command_id()},
          {"command", command.type()},
          {"stage", std::string(StageOf(command.state()))},
          {"created_at", WireTime(command.register_time())}};
}

Json CompletedEntry(const v1::Command& command) {
  return {{"correlation_id", command.command_id()},
          {"command", command.type()},
          {"completed_at", WireTime(command.end_time())},
          {"duration_ms", DurationMs(command)}};
}

Json FailedEntry(const v1::Command& command) {
  Json entry = {{"correlation_id", command.command_id()},
                {"command", command.type()},
                {"status", std::string(WireStatus(command.state()))}};
  AddError(command.error(), entry);
  entry[std::string(EndTimeName(command.state()))] = WireTime(command.end_time());
  return entry;
}

Json PendingQuery(const v1::CommandLease& lease) {
  const v1::Command& command = lease.command();
  Json params = JsonOrText(command.params());
  // Commands of other services may name their action only by the type.
  if (params.is_object() && !params.contains("action")) params["action"] = command.type();
  Json query;
  query["id"] = lease.lease_token();
  query["correlation_id"] = command.command_id();
  query["type"] = "browser_action";
  query["params"] = std::move(params);
  query["attempt"] = command.attempt();
  query["timeout_ms"] = absl::ToInt64Milliseconds(DurationOf(lease.start_to_close()));
  query["caller"] = CallerOf(command);
  if (!command.traceparent().empty()) query["traceparent"] = command.traceparent();
  if (!command.tracestate().empty()) query["tracestate"] = command.tracestate();
  if (!command.baggage().empty()) query["baggage"] = command.baggage();
  return query;
}

Json CancelNotice(const std::string& command_id, const std::string& lease_token) {
  return {{"type", "cancel"}, {"correlation_id", command_id}, {"id", lease_token}};
}

}  // namespace callslip::gateway
