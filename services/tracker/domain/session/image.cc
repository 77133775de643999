#include "tracker/domain/session/image.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

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
  if (!absl::ConsumePrefix(&id, "img-") || id.size() != kIdDigits) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
  });
}

}  // namespace callslip::tracker
