#include "tracker/domain/command/command_validation.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

absl::Status CheckText(absl::string_view field, absl::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return InvalidField(
        field, absl::StrCat("has ", text.size(), " bytes, at most ", max_bytes, " are accepted"));
  }
  // They end up in logs and headers.
  if (absl::c_any_of(text, [](char c) { return absl::ascii_iscntrl(c); })) {
    return InvalidField(field, "must not have control characters");
  }
  return absl::OkStatus();
}

// Cuts at a character's boundary, so that the text stays valid UTF-8.
void Cut(std::string& text, size_t max_bytes) {
  if (text.size() <= max_bytes) return;
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
}

// Cuts rather than refuses: an outcome must not be lost over its words.
void CutError(CommandError& error) {
  if (error.code.empty()) error.code = "execution_failed";
  Cut(error.code, kMaxErrorCodeBytes);
  Cut(error.message, kMaxErrorMessageBytes);
  Cut(error.hint, kMaxHintBytes);
}

}  // namespace

absl::Status CheckName(absl::string_view field, absl::string_view name) {
  return CheckText(field, name, kMaxNameBytes);
}

absl::Status CompleteAndCheck(CommandSpec& spec, const CommandDeadlines& deadlines) {
  if (spec.client_id.empty()) spec.client_id = kDefaultClient;
  if (spec.target.empty()) spec.target = kDefaultTarget;
  if (spec.params == nullptr || spec.params->empty()) {
    spec.params = std::make_shared<const std::string>("{}");
  }
  RETURN_IF_ERROR(CheckName("client_id", spec.client_id));
  RETURN_IF_ERROR(CheckName("target", spec.target));
  RETURN_IF_ERROR(CheckName("request_id", spec.request_id));
  RETURN_IF_ERROR(CheckName("label", spec.label));
  if (spec.type.empty()) return InvalidField("type", "is required");
  RETURN_IF_ERROR(CheckText("type", spec.type, kMaxTypeBytes));
  if (spec.params->size() > kMaxParamsBytes) {
    return InvalidField("params", absl::StrCat("has ", spec.params->size(), " bytes, at most ",
                                               kMaxParamsBytes, " are accepted"));
  }
  if (spec.command_class == CommandClass::kHuman) {
    if (spec.start_to_close == absl::ZeroDuration()) return absl::OkStatus();
    return InvalidField("start_to_close", "does not apply to commands that a person finishes");
  }
  if (spec.start_to_close == absl::ZeroDuration()) spec.start_to_close = deadlines.start_to_close;
  if (spec.start_to_close < kMinStartToClose || spec.start_to_close > kMaxStartToClose) {
    return InvalidField("start_to_close",
                        absl::StrCat("must be from ", absl::FormatDuration(kMinStartToClose),
                                     " to ", absl::FormatDuration(kMaxStartToClose)));
  }
  return absl::OkStatus();
}

absl::Status CheckAndCut(CommandOutcome& outcome) {
  if (auto* result = std::get_if<CommandResult>(&outcome); result != nullptr) {
    if (result->value->size() <= kMaxResultBytes) return absl::OkStatus();
    return ResultTooLarge(result->value->size(), kMaxResultBytes);
  }
  if (auto* failure = std::get_if<CommandFailure>(&outcome); failure != nullptr) {
    CutError(failure->error);
    return absl::OkStatus();
  }
  CommandError& error = std::get<CommandTimeout>(outcome).error;
  error.code = "execution_timeout";
  error.may_have_executed = true;  // It ran out of time, so it ran.
  CutError(error);
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
