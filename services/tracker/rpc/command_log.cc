#include "tracker/rpc/command_log.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/log.h"
#include "common/text_scan.h"
#include "tracker/domain/command/command_limits.h"

namespace callslip::tracker {
namespace {

// For a refused request, perhaps because a name is too long.
std::string Short(const std::string& name) { return std::string(CutText(name, kMaxNameBytes)); }

}  // namespace

void CommandLog::Note(absl::string_view event, const CommandSnapshot& command) {
  if (!IsLogged(LogLevel::kDebug)) return;
  const CommandSpec& spec = *command.spec;
  Log(LogLevel::kDebug, event,
      {{"correlation_id", spec.id.ToString()},
       {"client", std::string(spec.client_id())},
       {"traceparent", spec.trace.ToString()},
       {"target", std::string(spec.target())},
       {"type", std::string(spec.type())},
       {"state", std::string(CommandStateName(command.state))},
       {"attempt", absl::StrCat(command.attempt)}});
}

void CommandLog::Failed(const CommandSnapshot& command) {
  if (!IsLogged(LogLevel::kInfo)) return;
  const std::optional<int64_t> left_out = failures_.Admit();
  if (!left_out.has_value()) return;
  const CommandSpec& spec = *command.spec;
  Log(LogLevel::kInfo, "command failed",
      {{"correlation_id", spec.id.ToString()},
       {"client", std::string(spec.client_id())},
       {"traceparent", spec.trace.ToString()},
       {"target", std::string(spec.target())},
       {"type", std::string(spec.type())},
       {"state", std::string(CommandStateName(command.state))},
       {"code", command.error == nullptr ? "" : command.error->code},
       {"attempt", absl::StrCat(command.attempt)},
       {"left_out", absl::StrCat(*left_out)}});
}

void CommandLog::Refused(const std::string& client_id, const v1::RegisterCommandRequest& request,
                         const absl::Status& status) {
  if (!IsLogged(LogLevel::kInfo)) return;
  const std::optional<int64_t> left_out = refusals_.Admit();
  if (!left_out.has_value()) return;
  Log(LogLevel::kInfo, "command refused",
      {{"client", Short(client_id)},
       {"traceparent",
        TraceContext::Parse(request.traceparent()).value_or(TraceContext()).ToString()},
       {"type", Short(request.type())},
       {"code", absl::StatusCodeToString(status.code())},
       {"reason", DetailsOf(status).reason},
       {"left_out", absl::StrCat(*left_out)}});
}

void CommandLog::LateResult(const std::string& command_id, CommandState state,
                            const TraceContext& trace) {
  if (!IsLogged(LogLevel::kInfo)) return;
  const std::optional<int64_t> left_out = late_results_.Admit();
  if (!left_out.has_value()) return;
  Log(LogLevel::kInfo, "late result",
      {{"correlation_id", command_id},
       {"state", std::string(CommandStateName(state))},
       {"traceparent", trace.ToString()},
       {"left_out", absl::StrCat(*left_out)}});
}

}  // namespace callslip::tracker
