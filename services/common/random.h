#pragma once

#include <cstdint>
#include <string>

namespace callslip {

// 64 bits from the kernel's CSPRNG, for unguessable ids and tokens. The only source of randomness.
// Thread-safe.
uint64_t Random64();

// 128 such bits, as 32 hexadecimal digits.
std::string RandomHex128();

}  // namespace callslip
