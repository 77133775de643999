#include "bridge/relay/timeout_policy.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace callslip::bridge {
namespace {

// The properties of a call.
struct Kind {
  CallClass call_class = CallClass::kFast;
  // The gateway waits as long as this class permits if the call names no wait_ms.
  std::optional<CallClass> waits = std::nullopt;
  bool reads = false;
};

// One row; an empty text matches every call.
struct Row {
  absl::string_view method;
  absl::string_view tool;
  absl::string_view what;
  absl::string_view correlation_id_prefix;
  bool asks_for_long_wait;  // `wait_ms` exceeds the longest wait of the fast class.
  Kind kind;
};

constexpr CallClass kFast = CallClass::kFast;
constexpr CallClass kSlow = CallClass::kSlow;
constexpr CallClass kBlocking = CallClass::kBlocking;
constexpr auto kNoWait = std::nullopt;

// The first matching row decides; all other calls are fast and may change something. Only a
// `tools/call` is classified by more than its method.
constexpr Row kRows[] = {
    {"tools/call", "observe", "command_result", "ann_", false, {kBlocking, kBlocking, true}},
    {"tools/call", "observe", "", "", true, {kSlow, kNoWait, true}},
    {"tools/call", "observe", "", "", false, {kFast, kNoWait, true}},
    {"tools/call", "interact", "", "", false, {kSlow}},
    {"tools/call", "analyze", "annotations", "", false, {kSlow, kNoWait, true}},
    {"tools/call", "analyze", "", "", false, {kSlow}},
    {"tools/call", "session", "wait", "", false, {kSlow, kSlow, true}},
    {"tools/call", "session", "list", "", false, {kFast, kNoWait, true}},
    {"tools/call", "session", "read", "", false, {kFast, kNoWait, true}},
    {"tools/call", "session", "agents", "", false, {kFast, kNoWait, true}},
    {"tools/call", "session", "answer", "", true, {kSlow, kNoWait, true}},
    {"tools/call", "session", "answer", "", false, {kFast, kNoWait, true}},
    {"tools/call", "", "", "", true, {kSlow}},
    {"tasks/result", "", "", "", false, {kBlocking, kBlocking, true}},
    {"tasks/get", "", "", "", false, {kFast, kNoWait, true}},
    {"tasks/list", "", "", "", false, {kFast, kNoWait, true}},
    {"tools/list", "", "", "", false, {kFast, kNoWait, true}},
    {"resources/list", "", "", "", false, {kFast, kNoWait, true}},
    {"resources/templates/list", "", "", "", false, {kFast, kNoWait, true}},
    {"resources/read", "", "", "", false, {kFast, kNoWait, true}},
    {"prompts/list", "", "", "", false, {kFast, kNoWait, true}},
    {"prompts/get", "", "", "", false, {kFast, kNoWait, true}},
    {"completion/complete", "", "", "", false, {kFast, kNoWait, true}},
    {"ping", "", "", "", false, {kFast, kNoWait, true}},
    {"server/discover", "", "", "", false, {kFast, kNoWait, true}},
};

bool Fits(const Row& row, absl::string_view method, const ToolCall& call,
          absl::Duration fast_wait) {
  return row.method == method && (row.tool.empty() || row.tool == call.tool) &&
         (row.what.empty() || row.what == call.what) &&
         absl::StartsWith(call.correlation_id, row.correlation_id_prefix) &&
         (!row.asks_for_long_wait || call.wait.value_or(absl::ZeroDuration()) > fast_wait);
}

// `fast_wait`: the longest wait of the fast class.
Kind KindOf(const Message& message, absl::Duration fast_wait) {
  if (!message.is_request()) return {};
  static const ToolCall kNoToolCall;
  const ToolCall& call = message.tool_call ? *message.tool_call : kNoToolCall;
  for (const Row& row : kRows) {
    if (!Fits(row, message.method, call, fast_wait)) continue;
    Kind kind = row.kind;
    // Such a call sends a request to the user.
    if (call.asks_person) kind.reads = false;
    return kind;
  }
  return {};
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

bool OnlyReads(const Message& message) {
  return KindOf(message, /*fast_wait=*/absl::InfiniteDuration()).reads;
}

CallClass TimeoutPolicy::ClassOf(const Message& message) const {
  return KindOf(message, times_.fast.server_wait).call_class;
}

bool TimeoutPolicy::MayWait(const Message& message) const {
  const bool asks = message.tool_call && message.tool_call->wait > absl::ZeroDuration();
  return asks || message.is_stream() || KindOf(message, times_.fast.server_wait).waits.has_value();
}

bool TimeoutPolicy::CountsFromLastSign(const Message& message) const {
  return message.is_request() && message.IsMethod("tasks/result");
}

std::optional<absl::Duration> TimeoutPolicy::ShorterWaitFor(const Message& message) const {
  if (!message.is_request() || !message.tool_call) return std::nullopt;
  const Kind kind = KindOf(message, times_.fast.server_wait);
  const TimeoutPolicy gateways{CallTimes()};
  const absl::Duration longest = ServerWaitOf(kind.call_class);
  // The gateway enforces its own limit, and reports a longer wait as an error.
  if (longest >= gateways.ServerWaitOf(kind.call_class)) return std::nullopt;
  const absl::Duration by_itself =
      kind.waits ? gateways.ServerWaitOf(*kind.waits) : absl::ZeroDuration();
  if (message.tool_call->wait.value_or(by_itself) <= longest) return std::nullopt;
  return longest;
}

absl::Duration TimeoutPolicy::ServerWaitOf(CallClass call_class) const {
  switch (call_class) {
    case CallClass::kFast: return times_.fast.server_wait;
    case CallClass::kSlow: return times_.slow.server_wait;
    case CallClass::kBlocking: return times_.blocking.server_wait;
  }
  return times_.fast.server_wait;
}

absl::Duration TimeoutPolicy::TimeoutOf(CallClass call_class) const {
  switch (call_class) {
    case CallClass::kFast: return times_.fast.timeout;
    case CallClass::kSlow: return times_.slow.timeout;
    case CallClass::kBlocking: return times_.blocking.timeout;
  }
  return times_.fast.timeout;
}

}  // namespace callslip::bridge
