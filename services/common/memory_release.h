#ifndef CALLSLIP_COMMON_MEMORY_RELEASE_H_
#define CALLSLIP_COMMON_MEMORY_RELEASE_H_

#include <cstddef>
#include <functional>

#include "absl/time/time.h"

namespace callslip {

// The memory that an allocator keeps for itself. Both functions may be called by any thread.
struct SpareMemory {
  // How much it has from the system and nobody uses, in bytes.
  std::function<size_t()> bytes;
  // Gives some of that back; what is given at once may be more.
  std::function<void(size_t bytes)> release;

  // Of this process. Empty functions where it is not linked with tcmalloc, which a sanitizer
  // replaces: glibc's gives back much by itself.
  static SpareMemory OfThisProcess();
};

// Gives back to the system what a burst has left behind: tcmalloc does so only in the course of
// further work. What was spare at two looks in a row is not in use, and goes, but for kKept.
class MemoryRelease {
 public:
  // How often to Look().
  static constexpr absl::Duration kEvery = absl::Seconds(5);
  // Not given back, so that what work takes and returns all the time stays.
  static constexpr size_t kKept = size_t{8} << 20;
  // At one look, some 10 ms, for which others wait.
  static constexpr size_t kMostAtOnce = size_t{64} << 20;

  explicit MemoryRelease(SpareMemory spare = SpareMemory::OfThisProcess());

  // By one thread at a time.
  void Look();

 private:
  const SpareMemory spare_;
  size_t seen_ = 0;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_MEMORY_RELEASE_H_
