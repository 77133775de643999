#include "tracker/domain/command/command_id.h"

#include <array>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/random.h"

namespace callslip::tracker {
namespace {

constexpr size_t kRandomDigits = 32;
constexpr char kLeasePrefix[] = "lease-";

static_assert(std::endian::native == std::endian::little);

uint64_t LoadBigEndian(const char* from) {
  uint64_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return __builtin_bswap64(value);
}

void StoreBigEndian(uint64_t value, char* to) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof(value));
}

// Eight bytes at once, each of them `byte`.
constexpr uint64_t Each(uint8_t byte) { return uint64_t{0x0101010101010101} * byte; }

// The lower-case hex digits of numbers from 0 to 15, eight at once.
uint64_t DigitsOf(uint64_t nibbles) {
  const uint64_t letters = (nibbles + Each(6)) >> 4 & Each(1);
  return nibbles + Each('0') + letters * ('a' - '0' - 10);
}

// Writes eight digits, the highest first.
void WriteHex(uint32_t value, char* text) {
  uint64_t spread = value;
  spread = (spread | spread << 16) & 0x0000ffff0000ffff;
  spread = (spread | spread << 8) & 0x00ff00ff00ff00ff;
  spread = (spread | spread << 4) & Each(0x0f);
  StoreBigEndian(DigitsOf(spread), text);
}

void AppendHex(absl::uint128 value, std::string& text) {
  char digits[kRandomDigits];
  for (int i = 0; i < 4; ++i) {
    WriteHex(static_cast<uint32_t>(value >> (96 - 32 * i)), digits + 8 * i);
  }
  text.append(digits, kRandomDigits);
}

// Reads eight lower-case digits.
std::optional<uint32_t> ReadHex(const char* text) {
  const uint64_t digits = LoadBigEndian(text);
  uint64_t packed = (digits & Each(0x0f)) + (digits >> 6 & Each(1)) * 9;
  if ((packed & Each(0xf0)) != 0 || DigitsOf(packed) != digits) return std::nullopt;
  packed = (packed | packed >> 4) & 0x00ff00ff00ff00ff;
  packed = (packed | packed >> 8) & 0x0000ffff0000ffff;
  return static_cast<uint32_t>(packed | packed >> 16);
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
  std::array<uint64_t, 4> parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<uint32_t> part = ReadHex(text.data() + 8 * i);
    if (!part.has_value()) return std::nullopt;
    parts[i] = *part;
  }
  return absl::MakeUint128(parts[0] << 32 | parts[1], parts[2] << 32 | parts[3]);
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
