#include "tracker/domain/command/command_validation.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

absl::Status CheckText(absl::string_view field, absl::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return InvalidField(
        field, absl::StrCat("has ", text.size(), " bytes, at most ", max_bytes, " are accepted"));
  }
  // These texts end up in logs and headers.
  const bool has_control =
      absl::c_any_of(text, [](unsigned char c) { return absl::ascii_iscntrl(c); });
  if (has_control) return InvalidField(field, "must not have control characters");
  return absl::OkStatus();
}

}  // namespace

void Cut(std::string& text, size_t max_bytes) { text.resize(CutText(text, max_bytes).size()); }

void CutError(CommandError& error, absl::string_view fallback_code) {
  if (error.code.empty()) error.code = std::string(fallback_code);
  Cut(error.code, kMaxErrorCodeBytes);
  Cut(error.message, kMaxErrorMessageBytes);
  Cut(error.hint, kMaxHintBytes);
}

absl::Status CheckName(absl::string_view field, absl::string_view name) {
  return CheckText(field, name, kMaxNameBytes);
}

absl::Status CompleteAndCheckWorker(std::string& target, std::string& worker_id) {
  if (target.empty()) target = kDefaultTarget;
  if (worker_id.empty()) worker_id = kDefaultWorker;
  RETURN_IF_ERROR(CheckName("target", target));
  return CheckName("worker_id", worker_id);
}

absl::Status CompleteAndCheck(CommandRequest& request, absl::Time now) {
  if (request.client_id.empty()) request.client_id = kDefaultClient;
  if (request.target.empty()) request.target = kDefaultTarget;
  if (request.params == nullptr || request.params->empty()) {
    static const auto& no_params = *new Payload(std::make_shared<const std::string>("{}"));
    request.params = no_params;
  }
  for (const CommandName& name : kCommandNames) {
    if (name.max_bytes == 0) continue;
    RETURN_IF_ERROR(CheckText(name.field, request.*name.member, name.max_bytes));
  }
  if (request.type.empty()) return InvalidField("type", "is required");
  if (request.params->size() > kMaxParamsBytes) {
    return InvalidField("params", absl::StrCat("has ", request.params->size(), " bytes, at most ",
                                               kMaxParamsBytes, " are accepted"));
  }
  if (request.priority < -kMaxPriority || request.priority > kMaxPriority) {
    return InvalidField("priority",
                        absl::StrCat("must be from ", -kMaxPriority, " to ", kMaxPriority));
  }
  if (request.not_before <= now) return absl::OkStatus();
  if (request.not_before > now + kMaxDelay) {
    return InvalidField("not_before", absl::StrCat("must be at most ",
                                                   absl::FormatDuration(kMaxDelay), " from now"));
  }
  if (request.command_class == CommandClass::kHuman) {
    return InvalidField("not_before", "does not apply to commands that a person finishes");
  }
  return absl::OkStatus();
}

absl::Status CheckAndCut(CommandOutcome& outcome) {
  if (auto* result = std::get_if<CommandResult>(&outcome); result != nullptr) {
    if (result->value->size() <= kMaxResultBytes) return absl::OkStatus();
    return ResultTooLarge(result->value->size(), kMaxResultBytes);
  }
  if (auto* failure = std::get_if<CommandFailure>(&outcome); failure != nullptr) {
    CutError(failure->error, "execution_failed");
    return absl::OkStatus();
  }
  CommandError& error = std::get<CommandTimeout>(outcome).error;
  error.code = "execution_timeout";
  error.may_have_executed = true;  // It ran out of time, so it ran.
  CutError(error, "execution_timeout");
  return absl::OkStatus();
}

absl::Status CheckContext(const Payload& context) {
  if (context == nullptr || context->size() <= kMaxContextBytes) return absl::OkStatus();
  return InvalidField("context", absl::StrCat("has ", context->size(), " bytes, at most ",
                                              kMaxContextBytes, " are accepted"));
}

void Bound(CommandProgress& progress) {
  // Written so that NaN becomes 0.
  progress.fraction = progress.fraction > 0 ? std::min(progress.fraction, 1.0) : 0;
  Cut(progress.message, kMaxProgressBytes);
}

}  // namespace callslip::tracker
