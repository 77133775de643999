#include "tracker/domain/session/image.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "common/text_scan.h"

namespace callslip::tracker {
namespace {

constexpr size_t kIdDigits = 16;
// In a RIFF file, the kind follows the length.
constexpr size_t kRiffKindAt = 8;

}  // namespace

absl::string_view ImageTypeOf(absl::string_view data) {
  if (absl::StartsWith(data, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (absl::StartsWith(data, "\xff\xd8\xff")) return "image/jpeg";
  if (absl::StartsWith(data, "GIF87a") || absl::StartsWith(data, "GIF89a")) return "image/gif";
  const bool is_riff = absl::StartsWith(data, "RIFF") && data.size() > kRiffKindAt;
  if (is_riff && absl::StartsWith(data.substr(kRiffKindAt), "WEBP")) return "image/webp";
  return "";
}

bool IsImageId(absl::string_view id) {
  return absl::ConsumePrefix(&id, "img-") && id.size() == kIdDigits && IsLowerHex(id);
}

}  // namespace callslip::tracker
