#include "common/trace_context.h"

#include <cstddef>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/random.h"
#include "common/text_scan.h"

namespace callslip {
namespace {

constexpr size_t kTraceDigits = 32;
constexpr size_t kParentDigits = 16;
// The positions of the three fields in the text, after the version.
constexpr size_t kTraceAt = 3;
constexpr size_t kParentAt = kTraceAt + kTraceDigits + 1;
constexpr size_t kFlagsAt = kParentAt + kParentDigits + 1;
constexpr size_t kLength = kFlagsAt + 2;

bool IsZero(absl::string_view text) {
  return absl::c_all_of(text, [](char c) { return c == '0'; });
}

}  // namespace

std::optional<TraceContext> TraceContext::Parse(absl::string_view text) {
  if (text.size() < kLength) return std::nullopt;
  const absl::string_view version = text.substr(0, 2);
  const absl::string_view trace = text.substr(kTraceAt, kTraceDigits);
  const absl::string_view parent = text.substr(kParentAt, kParentDigits);
  const absl::string_view flags = text.substr(kFlagsAt, 2);
  if (text[kTraceAt - 1] != '-' || text[kParentAt - 1] != '-' || text[kFlagsAt - 1] != '-') {
    return std::nullopt;
  }
  if (!IsLowerHex(version) || !IsLowerHex(trace) || !IsLowerHex(parent) || !IsLowerHex(flags)) {
    return std::nullopt;
  }
  if (version == "ff" || IsZero(trace) || IsZero(parent)) return std::nullopt;
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return std::nullopt;
  TraceContext context;
  const std::string bytes = absl::HexStringToBytes(absl::StrCat(trace, parent, flags));
  absl::c_copy(bytes, context.bytes_.begin());
  context.bytes_.back() &= kKnownFlags;
  return context;
}

TraceContext TraceContext::New() {
  // The trace id (two numbers) and the parent. Neither id may be zero. The bit that ensures it is
  // in the first half of the trace id, because samplers need all bits of the second.
  const std::array<uint64_t, 3> ids = {Random64() | 1, Random64(), Random64() | 1};
  TraceContext context;
  std::memcpy(context.bytes_.data(), ids.data(), sizeof(ids));
  return context;
}

TraceContext TraceContext::WithSpan(uint64_t id) const {
  TraceContext context = *this;
  std::memcpy(context.bytes_.data() + kTraceBytes, &id, kSpanBytes);
  return context;
}

TraceContext TraceContext::WithSampled(bool sampled) const {
  TraceContext context = *this;
  context.bytes_.back() = static_cast<uint8_t>((flags() & ~kSampled) | (sampled ? kSampled : 0));
  return context;
}

std::string TraceContext::ToString() const {
  if (empty()) return "";
  const std::string bytes = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes_.data()), bytes_.size()));
  const absl::string_view hex = bytes;
  return absl::StrCat("00-", hex.substr(0, kTraceDigits), "-",
                      hex.substr(kTraceDigits, kParentDigits), "-",
                      hex.substr(kTraceDigits + kParentDigits));
}

}  // namespace callslip
