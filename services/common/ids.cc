#include "common/ids.h"

#include <sys/random.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace callslip {
namespace {

constexpr size_t kRandomPartBytes = 16;
constexpr size_t kRandomPartDigits = 2 * kRandomPartBytes;
constexpr size_t kMaxRandomBytes = 64;

// Draws from the kernel in blocks, since a system call for each id would cost as much as the rest
// of a registration. Used bytes are wiped, so that a memory dump shows no issued id.
class RandomBlock {
 public:
  void Take(char* out, size_t size) {
    if (size > block_.size() - used_) Refill();
    std::memcpy(out, block_.data() + used_, size);
    std::memset(block_.data() + used_, 0, size);
    used_ += size;
  }

 private:
  // 256 bytes is the most that getrandom() promises to deliver whole once the pool is seeded.
  using Block = std::array<char, 256>;

  void Refill() {
    if (getrandom(block_.data(), block_.size(), 0) != static_cast<ssize_t>(block_.size())) {
      std::perror("getrandom");
      std::abort();
    }
    used_ = 0;
  }

  Block block_;
  size_t used_ = block_.size();
};

std::string RandomBytes(size_t bytes) {
  thread_local RandomBlock block;
  std::string raw(bytes, '\0');
  block.Take(raw.data(), bytes);
  return raw;
}

std::string NewId(absl::string_view prefix, char separator, absl::Time now, uint8_t partition) {
  std::string random = RandomBytes(kRandomPartBytes);
  random[0] = static_cast<char>(partition);
  return absl::StrCat(prefix, absl::ToUnixMillis(now), absl::string_view(&separator, 1),
                      absl::BytesToHexString(random));
}

int HexValue(char digit) { return absl::ascii_isdigit(digit) ? digit - '0' : digit - 'a' + 10; }

bool IsLowerHex(absl::string_view text) {
  for (char c : text) {
    if (!absl::ascii_isdigit(c) && (c < 'a' || c > 'f')) return false;
  }
  return true;
}

}  // namespace

std::string RandomHex(size_t bytes) {
  if (bytes > kMaxRandomBytes) std::abort();
  return absl::BytesToHexString(RandomBytes(bytes));
}

std::string NewCorrelationId(absl::Time now, uint8_t partition) {
  return NewId("corr-", '-', now, partition);
}

std::string NewAnnotationId(absl::Time now, uint8_t partition) {
  return NewId("ann_", '_', now, partition);
}

std::optional<uint8_t> PartitionOfId(absl::string_view id) {
  const bool known_prefix = absl::StartsWith(id, "corr-") || absl::StartsWith(id, "ann_");
  if (!known_prefix || id.size() < kRandomPartDigits) return std::nullopt;
  const absl::string_view random = id.substr(id.size() - kRandomPartDigits);
  if (!IsLowerHex(random)) return std::nullopt;
  return static_cast<uint8_t>(HexValue(random[0]) * 16 + HexValue(random[1]));
}

std::string NewLeaseToken() { return absl::StrCat("lease-", RandomHex(kRandomPartBytes)); }

}  // namespace callslip
