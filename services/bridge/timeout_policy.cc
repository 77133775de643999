#include "bridge/timeout_policy.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace callslip::bridge {
namespace {

// One row; an empty text fits every call.
struct Row {
  absl::string_view method;
  absl::string_view tool;
  absl::string_view what;
  absl::string_view correlation_id_prefix;
  bool asks_for_long_wait;  // `wait_ms` is beyond what the fast class can wait.
  CallClass call_class;
};

// The first row that fits decides; all other calls are fast. Only a `tools/call` has more to it
// than its method.
constexpr Row kRows[] = {
    {"tasks/result", "", "", "", false, CallClass::kBlocking},
    {"tools/call", "observe", "command_result", "ann_", false, CallClass::kBlocking},
    {"tools/call", "interact", "", "", false, CallClass::kSlow},
    {"tools/call", "analyze", "", "", false, CallClass::kSlow},
    {"tools/call", "", "", "", true, CallClass::kSlow},
};

bool Fits(const Row& row, absl::string_view method, const ToolCall& call,
          absl::Duration fast_wait) {
  return row.method == method && (row.tool.empty() || row.tool == call.tool) &&
         (row.what.empty() || row.what == call.what) &&
         absl::StartsWith(call.correlation_id, row.correlation_id_prefix) &&
         (!row.asks_for_long_wait || call.wait > fast_wait);
}

absl::Status CheckClass(absl::string_view name, const CallTimes::Class& times) {
  const absl::Duration margin =
      times.server_wait == absl::ZeroDuration() ? absl::ZeroDuration() : kNestingMargin;
  if (times.timeout >= times.server_wait + margin) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--timeout-", name, " (", absl::FormatDuration(times.timeout), ") must exceed --server-wait-",
      name, " (", absl::FormatDuration(times.server_wait), ") by at least ",
      absl::FormatDuration(kNestingMargin)));
}

}  // namespace

absl::Status CheckNesting(const CallTimes& times) {
  if (times.fast.timeout >= times.slow.timeout || times.slow.timeout >= times.blocking.timeout) {
    return absl::InvalidArgumentError(
        "the timeouts must nest: --timeout-fast < --timeout-slow < --timeout-blocking");
  }
  for (const absl::Status& status : {CheckClass("fast", times.fast), CheckClass("slow", times.slow),
                                     CheckClass("blocking", times.blocking)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

CallClass TimeoutPolicy::ClassOf(const Message& message) const {
  if (!message.is_request()) return CallClass::kFast;
  static const ToolCall kNoToolCall;
  const ToolCall& call = message.tool_call ? *message.tool_call : kNoToolCall;
  for (const Row& row : kRows) {
    if (Fits(row, message.method, call, times_.fast.server_wait)) return row.call_class;
  }
  return CallClass::kFast;
}

absl::Duration TimeoutPolicy::TimeoutOf(CallClass call_class) const {
  switch (call_class) {
    case CallClass::kFast:
      return times_.fast.timeout;
    case CallClass::kSlow:
      return times_.slow.timeout;
    case CallClass::kBlocking:
      return times_.blocking.timeout;
  }
  return times_.fast.timeout;
}

}  // namespace callslip::bridge
