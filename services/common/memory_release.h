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

// What the heap of this process has from the system, in bytes.
struct HeapUse {
  size_t in_use = 0;
  // Kept for what is asked for next: by threads, by sizes, and as pages, of which MemoryRelease
  // gives back what stays unused.
  size_t spare = 0;

  static HeapUse OfThisProcess();
};

// Gives back to the system what a burst has left behind: tcmalloc does so only in the course of
// further work. What was spare at two looks in a row is not in use, and goes: at once but for
// kKept, and half of that with each look, until it is too little to matter.
class MemoryRelease {
 public:
  // How often to Look().
  static constexpr absl::Duration kEvery = absl::Seconds(5);
  // Not given back at once, so that what work takes and returns all the time stays.
  static constexpr size_t kKept = size_t{8} << 20;
  // Not given back at all.
  static constexpr size_t kTooLittle = size_t{1} << 20;
  // At one look, some 10 ms, for which others wait.
  static constexpr size_t kMaxAtOnce = size_t{64} << 20;

  // What all threads together keep at hand of what was freed, which is not spare and never given
  // back. tcmalloc's own limit, 32 MiB, is more than all that a tracker has in use.
  static constexpr size_t kThreadCaches = size_t{8} << 20;

  // Of this process, whose threads keep kThreadCaches from now on.
  MemoryRelease();
  explicit MemoryRelease(SpareMemory spare);

  // By one thread at a time.
  void Look();

 private:
  const SpareMemory spare_;
  size_t seen_ = 0;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_MEMORY_RELEASE_H_
