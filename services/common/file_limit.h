#ifndef CALLSLIP_COMMON_FILE_LIMIT_H_
#define CALLSLIP_COMMON_FILE_LIMIT_H_

#include <cstdint>

namespace callslip {

// Raises this process' limit on open files, which Debian sets to 1,024, as far as it may be raised.
// Returns what it is then. Each connection takes one.
int64_t RaiseFileLimit();

}  // namespace callslip

#endif  // CALLSLIP_COMMON_FILE_LIMIT_H_
