#include "tracker/domain/command/command_id.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/clock.h"
#include "common/random.h"

namespace callslip::tracker {
namespace {

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

// Eight copies of `byte`.
constexpr uint64_t Each(uint8_t byte) { return uint64_t{0x0101010101010101} * byte; }

// The lower-case hex digits of eight numbers from 0 to 15.
uint64_t DigitsOf(uint64_t nibbles) {
  const uint64_t letters = (nibbles + Each(6)) >> 4 & Each(1);
  return nibbles + Each('0') + letters * ('a' - '0' - 10);
}

// Writes the digits of a number, highest first, and returns their end.
char* WriteHex(uint32_t value, char* text) {
  uint64_t spread = value;
  spread = (spread | spread << 16) & 0x0000ffff0000ffff;
  spread = (spread | spread << 8) & 0x00ff00ff00ff00ff;
  spread = (spread | spread << 4) & Each(0x0f);
  StoreBigEndian(DigitsOf(spread), text);
  return text + 2 * sizeof(value);
}

char* WriteHex(uint64_t value, char* text) {
  text = WriteHex(static_cast<uint32_t>(value >> 32), text);
  return WriteHex(static_cast<uint32_t>(value), text);
}

// Reads eight lower-case hex digits. False if there are other characters.
bool ReadHex(const char* text, uint32_t& value) {
  const uint64_t digits = LoadBigEndian(text);
  uint64_t packed = (digits & Each(0x0f)) + (digits >> 6 & Each(1)) * 9;
  if ((packed & Each(0xf0)) != 0 || DigitsOf(packed) != digits) return false;
  packed = (packed | packed >> 4) & 0x00ff00ff00ff00ff;
  packed = (packed | packed >> 8) & 0x0000ffff0000ffff;
  value = static_cast<uint32_t>(packed | packed >> 16);
  return true;
}

constexpr size_t kDigits = 2 * sizeof(uint64_t);

std::optional<uint64_t> HexFrom(absl::string_view digits) {
  uint32_t high = 0;
  uint32_t low = 0;
  if (digits.size() != kDigits) return std::nullopt;
  if (!ReadHex(digits.data(), high) || !ReadHex(digits.data() + kDigits / 2, low)) {
    return std::nullopt;
  }
  return uint64_t{high} << 32 | low;
}

// Accepts only the form that ToString() writes: no sign, no space, no leading zero, no overflow.
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

}  // namespace

CommandId CommandId::New(absl::Time now, bool annotation, uint8_t partition) {
  const uint64_t high = uint64_t{partition} << 56 | Random64() >> 8;
  return CommandId(absl::ToUnixMillis(ToWallTime(now)), annotation, high, Random64());
}

std::optional<CommandId> CommandId::Parse(absl::string_view text) {
  const bool annotation = absl::ConsumePrefix(&text, "ann_");
  if (!annotation && !absl::ConsumePrefix(&text, "corr-")) return std::nullopt;
  if (text.size() <= 2 * kDigits + 1) return std::nullopt;
  const size_t time_digits = text.size() - 2 * kDigits - 1;
  const std::optional<int64_t> unix_ms = DecimalFrom(text.substr(0, time_digits));
  if (!unix_ms.has_value() || text[time_digits] != (annotation ? '_' : '-')) return std::nullopt;
  const std::optional<uint64_t> high = HexFrom(text.substr(time_digits + 1, kDigits));
  const std::optional<uint64_t> low = HexFrom(text.substr(time_digits + 1 + kDigits));
  if (!high.has_value() || !low.has_value()) return std::nullopt;
  return CommandId(*unix_ms, annotation, *high, *low);
}

std::string CommandId::ToString() const {
  const bool annotation = time_and_kind_ % 2 != 0;
  const absl::string_view prefix = annotation ? "ann_" : "corr-";
  std::array<char, kMaxBytes> text;
  char* end = std::copy(prefix.begin(), prefix.end(), text.data());
  end = std::to_chars(end, text.data() + text.size(), time_and_kind_ / 2).ptr;
  *end++ = annotation ? '_' : '-';
  end = WriteHex(high_, end);
  end = WriteHex(low_, end);
  return std::string(text.data(), end);
}

LeaseToken LeaseToken::New(LeaseProofs proofs) {
  const uint64_t even = Random64() & ~uint64_t{1};
  return LeaseToken(proofs == LeaseProofs::kOptional ? even + 1 : even);
}

std::optional<LeaseToken> LeaseToken::Parse(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, kLeasePrefix)) return std::nullopt;
  const std::optional<uint64_t> random = HexFrom(text);
  if (!random.has_value()) return std::nullopt;
  return LeaseToken(*random);
}

std::string LeaseToken::ToString() const {
  std::array<char, kDigits> digits;
  WriteHex(random_, digits.data());
  return absl::StrCat(kLeasePrefix, absl::string_view(digits.data(), digits.size()));
}

}  // namespace callslip::tracker
