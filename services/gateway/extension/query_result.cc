#include "gateway/extension/query_result.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "gateway/extension/browser_log.h"
#include "gateway/json/json_members.h"
#include "google/protobuf/util/time_util.h"

namespace callslip::gateway {
namespace {

// A day. Longer times only arise from a change of the clock, and are clamped so that no result is
// lost.
constexpr double kMaxWorkMs = 24 * 3600 * 1000.0;

// {"tab_id":…,"url":…}, with the members present in the report.
std::string ContextOf(const Json& report) {
  Json context = Json::object();
  for (const char* field : {"tab_id", "url"}) {
    if (const auto it = report.find(field); it != report.end() && it->is_primitive()) {
      context[field] = *it;
    }
  }
  return context.empty() ? "" : Dump(context);
}

// {"message"?, "fraction"?}. The tracker bounds both.
absl::Status TakeProgress(const Json& report, v1::AcknowledgeCommandRequest& request) {
  const Json& member = MemberOf(report, "progress");
  if (member.is_null()) return absl::OkStatus();
  if (!member.is_object()) return BadField("invalid_field", "progress must be an object.", "");
  v1::CommandProgress& progress = *request.mutable_progress();
  ASSIGN_OR_RETURN(*progress.mutable_message(), OptionalText(member, "message"));
  const Json& fraction = MemberOf(member, "fraction");
  if (fraction.is_null()) return absl::OkStatus();
  if (!fraction.is_number() || fraction < 0 || fraction > 1) {
    return BadField("invalid_field", "progress.fraction must be a number from 0 to 1.", "");
  }
  progress.set_fraction(fraction.get<double>());
  return absl::OkStatus();
}

// Old extensions send only the message; newer ones {code, message, hint?, may_have_executed?}.
// Without that flag the command may have been executed, because the browser had received it.
absl::StatusOr<v1::CommandError> ErrorOf(const Json& report, absl::string_view default_code) {
  v1::CommandError error;
  error.set_code(std::string(default_code));
  error.set_may_have_executed(true);
  const Json& given = MemberOf(report, "error");
  if (given.is_null()) return error;
  if (given.is_string()) {
    error.set_message(given.get<std::string>());
    return error;
  }
  if (!given.is_object()) {
    return BadField("invalid_field", "error must be a string or an object.", "");
  }
  ASSIGN_OR_RETURN(const std::string code, OptionalText(given, "code"));
  if (!code.empty()) error.set_code(code);
  ASSIGN_OR_RETURN(*error.mutable_message(), OptionalText(given, "message"));
  ASSIGN_OR_RETURN(*error.mutable_hint(), OptionalText(given, "hint"));
  if (const Json& executed = MemberOf(given, "may_have_executed"); executed.is_boolean()) {
    error.set_may_have_executed(executed.get<bool>());
  }
  return error;
}

// {"duration_ms", "ended_ms_ago"}.
absl::Status TakeWork(const Json& report, v1::CompleteCommandRequest& request) {
  const Json& member = MemberOf(report, "work");
  if (member.is_null()) return absl::OkStatus();
  const auto take = [&](const char* name, google::protobuf::Duration& to) {
    const Json& ms = MemberOf(member, name);
    if (!ms.is_number() || ms < 0) return false;
    const absl::Duration given = absl::Milliseconds(std::min(ms.get<double>(), kMaxWorkMs));
    to = google::protobuf::util::TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(given));
    return true;
  };
  if (!member.is_object() || !take("duration_ms", *request.mutable_work_time()) ||
      !take("ended_ms_ago", *request.mutable_work_age())) {
    return BadField("invalid_field",
                    "work must be an object with the numbers duration_ms and ended_ms_ago, which "
                    "are not negative.",
                    "");
  }
  return absl::OkStatus();
}

absl::StatusOr<QueryResult> Completion(const Json& report, const std::string& status,
                                       v1::CompleteCommandRequest request) {
  if (status == "complete") {
    const auto result = report.find("result");
    request.set_result(result == report.end() ? "null" : Dump(*result));
  } else if (status == "error") {
    ASSIGN_OR_RETURN(*request.mutable_error(), ErrorOf(report, "execution_failed"));
  } else {
    ASSIGN_OR_RETURN(*request.mutable_timeout(), ErrorOf(report, "execution_timeout"));
  }
  return request;
}

}  // namespace

absl::StatusOr<QueryResult> ParseQueryResult(const std::string& body) {
  ASSIGN_OR_RETURN(const Json report, ParseObject(body));
  ASSIGN_OR_RETURN(const std::string correlation_id, OptionalText(report, "correlation_id"));
  if (correlation_id.empty()) {
    return BadField("missing_correlation_id", "correlation_id is missing.",
                    "Quote the correlation_id of the query. Extensions do so from version 6.0.0 "
                    "on: update the extension.");
  }
  ASSIGN_OR_RETURN(const std::string lease_token, OptionalText(report, "id"));
  ASSIGN_OR_RETURN(const std::string status, OptionalText(report, "status"));
  if (status == "pending") {
    v1::AcknowledgeCommandRequest request;
    request.set_command_id(correlation_id);
    request.set_lease_token(lease_token);
    request.set_context(ContextOf(report));
    request.set_place(TabPlace(report));
    RETURN_IF_ERROR(TakeProgress(report, request));
    return request;
  }
  if (status != "complete" && status != "error" && status != "timeout") {
    return BadField(
        "invalid_status",
        absl::StrCat("status \"", status, "\" is not one of pending, complete, error, timeout."),
        "");
  }
  v1::CompleteCommandRequest request;
  request.set_command_id(correlation_id);
  request.set_lease_token(lease_token);
  request.set_context(ContextOf(report));
  request.set_place(TabPlace(report));
  RETURN_IF_ERROR(TakeWork(report, request));
  return Completion(report, status, std::move(request));
}

}  // namespace callslip::gateway
