#include "common/rpc_status.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/text_scan.h"

namespace callslip {
namespace {

constexpr char kReasonKey[] = "callslip-reason";
constexpr char kHintKey[] = "callslip-hint";
constexpr char kRetryAfterKey[] = "callslip-retry-after-ms";
constexpr char kDepthKey[] = "callslip-depth";

// Metadata values must be printable ASCII; anything else would fail the whole call.
std::string Printable(std::string text) {
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return text;
}

// Most clients limit HTTP/2 headers to 8 KiB or 16 KiB, and a longer one breaks the connection:
// text quoted from a request must not exceed that.
std::string Bounded(absl::string_view text) {
  constexpr size_t kMaxBytes = 1024;
  if (text.size() <= kMaxBytes) return std::string(text);
  return absl::StrCat(CutText(text, kMaxBytes), "…");
}

std::string TrailerOf(const grpc::ClientContext& context, const char* key) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto it = trailers.find(key);
  return it == trailers.end() ? "" : std::string(it->second.data(), it->second.size());
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status, grpc::ServerContextBase& context) {
  if (status.ok()) return grpc::Status::OK;
  const ErrorDetails details = DetailsOf(status);
  if (!details.reason.empty()) context.AddTrailingMetadata(kReasonKey, Printable(details.reason));
  if (!details.hint.empty())
    context.AddTrailingMetadata(kHintKey, Printable(Bounded(details.hint)));
  if (details.retry_after.has_value()) {
    context.AddTrailingMetadata(kRetryAfterKey,
                                absl::StrCat(absl::ToInt64Milliseconds(*details.retry_after)));
  }
  if (details.depth.has_value()) {
    context.AddTrailingMetadata(kDepthKey, absl::StrCat(*details.depth));
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), Bounded(status.message()));
}

absl::Status FromGrpc(const grpc::Status& status, const grpc::ClientContext& context) {
  if (status.ok()) return absl::OkStatus();
  ErrorDetails details{.reason = TrailerOf(context, kReasonKey),
                       .hint = TrailerOf(context, kHintKey)};
  int64_t number = 0;
  if (absl::SimpleAtoi(TrailerOf(context, kRetryAfterKey), &number)) {
    details.retry_after = absl::Milliseconds(number);
  }
  if (absl::SimpleAtoi(TrailerOf(context, kDepthKey), &number)) {
    details.depth = static_cast<int>(number);
  }
  return ErrorWithDetails(static_cast<absl::StatusCode>(status.error_code()),
                          status.error_message(), details);
}

}  // namespace callslip
