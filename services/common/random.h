#ifndef CALLSLIP_COMMON_RANDOM_H_
#define CALLSLIP_COMMON_RANDOM_H_

#include <string>

#include "absl/numeric/int128.h"

namespace callslip {

// 128 bits of the kernel's CSPRNG, for ids and tokens that nobody may guess. The only source of
// randomness. Thread-safe.
absl::uint128 Random128();

// The same as 32 hexadecimal digits.
std::string RandomHex128();

}  // namespace callslip

#endif  // CALLSLIP_COMMON_RANDOM_H_
