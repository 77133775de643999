#include "tracker/domain/command/command_id.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/random.h"

namespace callslip::tracker {
namespace {

constexpr size_t kRandomDigits = 32;
constexpr char kLeasePrefix[] = "lease-";

void AppendHex(uint64_t value, std::string& text) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 0xf];
}

void AppendHex(absl::uint128 value, std::string& text) {
  AppendHex(absl::Uint128High64(value), text);
  AppendHex(absl::Uint128Low64(value), text);
}

// Of each character as a lower-case hex digit; 0xff for those that are none.
constexpr std::array<uint8_t, 256> kHexValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(0xff);
  for (uint8_t i = 0; i < 10; ++i) values['0' + i] = i;
  for (uint8_t i = 0; i < 6; ++i) values['a' + i] = 10 + i;
  return values;
}();

std::optional<uint64_t> FromHex(absl::string_view digits) {
  uint64_t value = 0;
  uint8_t seen = 0;
  for (const char c : digits) {
    const uint8_t digit = kHexValues[static_cast<uint8_t>(c)];
    seen |= digit;
    value = value << 4 | digit;
  }
  if (seen > 0xf) return std::nullopt;
  return value;
}

// Only as ToString() writes it: no sign, no space, no leading zero, no overflow.
std::optional<int64_t> DecimalFrom(absl::string_view digits) {
  constexpr size_t kMaxDigits = 15;
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  if (digits[0] == '0' && digits.size() > 1) return std::nullopt;
  int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<absl::uint128> RandomPartFrom(absl::string_view text) {
  if (text.size() != kRandomDigits) return std::nullopt;
  const auto high = FromHex(text.substr(0, kRandomDigits / 2));
  const auto low = FromHex(text.substr(kRandomDigits / 2));
  if (!high.has_value() || !low.has_value()) return std::nullopt;
  return absl::MakeUint128(*high, *low);
}

}  // namespace

CommandId CommandId::New(absl::Time now, bool annotation, uint8_t partition) {
  const absl::uint128 random = Random128();
  constexpr uint64_t kWithoutPartition = ~uint64_t{0} >> 8;
  const uint64_t high = (absl::Uint128High64(random) & kWithoutPartition) | uint64_t{partition}
                                                                                << 56;
  return CommandId(absl::ToUnixMillis(now), annotation,
                   absl::MakeUint128(high, absl::Uint128Low64(random)));
}

std::optional<CommandId> CommandId::Parse(absl::string_view text) {
  const bool annotation = absl::ConsumePrefix(&text, "ann_");
  if (!annotation && !absl::ConsumePrefix(&text, "corr-")) return std::nullopt;
  if (text.size() <= kRandomDigits + 1) return std::nullopt;
  const size_t time_digits = text.size() - kRandomDigits - 1;
  const std::optional<int64_t> unix_ms = DecimalFrom(text.substr(0, time_digits));
  if (!unix_ms.has_value() || text[time_digits] != (annotation ? '_' : '-')) return std::nullopt;
  const auto random = RandomPartFrom(text.substr(time_digits + 1));
  if (!random.has_value()) return std::nullopt;
  return CommandId(*unix_ms, annotation, *random);
}

std::string CommandId::ToString() const {
  const bool annotation = time_and_kind_ % 2 != 0;
  std::string text;
  text.reserve(kMaxBytes);
  absl::StrAppend(&text, annotation ? "ann_" : "corr-", time_and_kind_ / 2, annotation ? "_" : "-");
  AppendHex(random_, text);
  return text;
}

LeaseToken LeaseToken::New() { return LeaseToken(Random128()); }

std::optional<LeaseToken> LeaseToken::Parse(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, kLeasePrefix)) return std::nullopt;
  const auto random = RandomPartFrom(text);
  if (!random.has_value()) return std::nullopt;
  return LeaseToken(*random);
}

std::string LeaseToken::ToString() const {
  std::string text = kLeasePrefix;
  AppendHex(random_, text);
  return text;
}

}  // namespace callslip::tracker
