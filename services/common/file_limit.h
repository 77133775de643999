#pragma once

#include <cstdint>

namespace callslip {

// Raises this process's limit on open files (1,024 on Debian) to the hard limit and returns the
// resulting limit. Each connection takes one file.
int64_t RaiseFileLimit();

}  // namespace callslip
