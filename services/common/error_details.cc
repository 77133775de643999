#include "common/error_details.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace callslip {
namespace {

constexpr char kReasonPayload[] = "callslip/reason";
constexpr char kHintPayload[] = "callslip/hint";
constexpr char kRetryAfterPayload[] = "callslip/retry_after_ms";
constexpr char kDepthPayload[] = "callslip/depth";

std::optional<int64_t> IntegerPayload(const absl::Status& status, absl::string_view name) {
  const auto payload = status.GetPayload(name);
  int64_t value = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

absl::Status ErrorWithDetails(absl::StatusCode code, absl::string_view message,
                              const ErrorDetails& details) {
  absl::Status status(code, message);
  if (!details.reason.empty()) status.SetPayload(kReasonPayload, absl::Cord(details.reason));
  if (!details.hint.empty()) status.SetPayload(kHintPayload, absl::Cord(details.hint));
  if (details.retry_after.has_value()) {
    status.SetPayload(kRetryAfterPayload,
                      absl::Cord(absl::StrCat(absl::ToInt64Milliseconds(*details.retry_after))));
  }
  if (details.depth.has_value()) {
    status.SetPayload(kDepthPayload, absl::Cord(absl::StrCat(*details.depth)));
  }
  return status;
}

ErrorDetails DetailsOf(const absl::Status& status) {
  ErrorDetails details;
  if (auto reason = status.GetPayload(kReasonPayload)) details.reason = std::string(*reason);
  if (auto hint = status.GetPayload(kHintPayload)) details.hint = std::string(*hint);
  if (auto ms = IntegerPayload(status, kRetryAfterPayload)) {
    details.retry_after = absl::Milliseconds(*ms);
  }
  if (auto depth = IntegerPayload(status, kDepthPayload)) details.depth = static_cast<int>(*depth);
  return details;
}

}  // namespace callslip
