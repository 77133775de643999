#pragma once

#include <cstddef>
#include <functional>

#include "absl/time/time.h"

namespace callslip {

// The memory that an allocator keeps for itself. Both functions are thread-safe.
struct SpareMemory {
  // The number of bytes that it holds from the system but that are unused.
  std::function<size_t()> bytes;
  // Returns some of it to the system, possibly more than `bytes`.
  std::function<void(size_t bytes)> release;

  // The spare memory of this process. The functions are empty if it is not linked with tcmalloc,
  // for example with a sanitizer: glibc returns much memory by itself.
  static SpareMemory OfThisProcess();
};

// The memory that this process's heap has from the system, in bytes.
struct HeapUse {
  size_t in_use = 0;
  // Kept for later allocations: by threads, by sizes, and as pages. MemoryRelease returns the
  // unused pages.
  size_t spare = 0;

  static HeapUse OfThisProcess();
};

// Returns the memory left over after a burst to the system: tcmalloc does so only in the course of
// further work. Memory that was spare at two looks in a row is unused and is released: at once
// except for kKept, then half of the rest at each look, until no more than kTooLittle is left.
class MemoryRelease {
 public:
  // How often to Look().
  static constexpr absl::Duration kEvery = absl::Seconds(5);
  // Not released at once, so that memory that work constantly allocates and frees is kept.
  static constexpr size_t kKept = size_t{8} << 20;
  // Never released.
  static constexpr size_t kTooLittle = size_t{1} << 20;
  // Released at one look at most. This takes some 10 ms, which blocks other threads.
  static constexpr size_t kMaxAtOnce = size_t{64} << 20;

  // The size of all threads' caches of freed memory together. It does not count as spare and is
  // never released. tcmalloc's own limit, 32 MiB, is more than a tracker's whole use.
  static constexpr size_t kThreadCaches = size_t{8} << 20;

  // For this process; limits its threads' caches to kThreadCaches from now on.
  MemoryRelease();
  explicit MemoryRelease(SpareMemory spare);

  // Call it from one thread at a time.
  void Look();

 private:
  const SpareMemory spare_;
  size_t seen_ = 0;
};

}  // namespace callslip
