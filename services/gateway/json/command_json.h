#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "callslip/tracker/v1/command.pb.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "gateway/json/parse.h"

// Commands in JSON for agents and extensions. For people: command_detail.h. For `/sync`:
// extension/sync_command.h.
namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// Larger results are not put into an answer: models cannot use more at once, and clients truncate
// it.
inline constexpr size_t kMaxInlineResultBytes = 64 << 10;

// The maximum length of submitted IDs of commands and sessions; the tracker's have some 50 bytes.
// Longer ones are refused at once, because IDs of many callers share one message.
inline constexpr size_t kMaxIdBytes = 128;

bool IsFinal(v1::CommandState state);

// The word for a state on the wire: pending, complete, error, timeout, expired or cancelled.
absl::string_view WireStatus(v1::CommandState state);

// queued, delivered or running; for states that are not final.
absl::string_view StageOf(v1::CommandState state);

// What `observe {what: "command_result"}` answers about a command, except its result: `status`,
// `final`, `correlation_id`; `stage` and progress while it is pending; `error` (a code), `message`,
// `hint` and `may_have_executed` if it failed; `late_result`, or `late_result_bytes` if it is
// large; `tab_id` and `url` of where it ran, as the worker reported; and the rest of the worker's
// report in `context`.
Json CommandAnswer(const v1::Command& command);

// An entry of `pending_commands` or `failed_commands`.
Json PendingEntry(const v1::Command& command);
Json CompletedEntry(const v1::Command& command);
Json FailedEntry(const v1::Command& command);

// An entry of GET /pending-queries.
Json PendingQuery(const v1::CommandLease& lease);

// An entry there that requests to stop this command; no report about it is expected any more.
Json CancelNotice(const std::string& command_id, const std::string& lease_token);

// RFC 3339 in UTC with milliseconds.
std::string WireTime(const google::protobuf::Timestamp& time);

// Protobuf's times as Abseil's.
absl::Time TimeOf(const google::protobuf::Timestamp& time);
absl::Duration DurationOf(const google::protobuf::Duration& duration);

}  // namespace callslip::gateway
