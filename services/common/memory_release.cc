#include "common/memory_release.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

// Functions of tcmalloc; null in programs that are not linked with it.
extern "C" {
__attribute__((weak)) int MallocExtension_GetNumericProperty(const char* property, size_t* value);
__attribute__((weak)) int MallocExtension_SetNumericProperty(const char* property, size_t value);
__attribute__((weak)) void MallocExtension_ReleaseToSystem(size_t num_bytes);
}

namespace callslip {
namespace {

bool HasTcmalloc() {
  return MallocExtension_GetNumericProperty != nullptr &&
         MallocExtension_SetNumericProperty != nullptr &&
         MallocExtension_ReleaseToSystem != nullptr;
}

size_t PropertyOf(const char* name) {
  size_t bytes = 0;
  MallocExtension_GetNumericProperty(name, &bytes);
  return bytes;
}

size_t FreePages() { return PropertyOf("tcmalloc.pageheap_free_bytes"); }

}  // namespace

SpareMemory SpareMemory::OfThisProcess() {
  if (!HasTcmalloc()) return {};
  return {.bytes = FreePages,
          .release = [](size_t most) { MallocExtension_ReleaseToSystem(most); }};
}

HeapUse HeapUse::OfThisProcess() {
  if (!HasTcmalloc()) {
    const struct mallinfo2 glibc = mallinfo2();
    return {.in_use = glibc.uordblks + glibc.hblkhd, .spare = glibc.fordblks};
  }
  return {.in_use = PropertyOf("generic.current_allocated_bytes"),
          .spare = FreePages() + PropertyOf("tcmalloc.central_cache_free_bytes") +
                   PropertyOf("tcmalloc.transfer_cache_free_bytes") +
                   PropertyOf("tcmalloc.thread_cache_free_bytes")};
}

MemoryRelease::MemoryRelease() : MemoryRelease(SpareMemory::OfThisProcess()) {
  if (!HasTcmalloc()) return;
  MallocExtension_SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", kThreadCaches);
}

MemoryRelease::MemoryRelease(SpareMemory spare) : spare_(std::move(spare)) {}

void MemoryRelease::Look() {
  if (spare_.bytes == nullptr) return;
  const size_t spare = spare_.bytes();
  const size_t unused = std::min(spare, std::exchange(seen_, spare));
  if (unused <= kTooLittle) return;
  const size_t kept = std::min(kKept, unused / 2);
  spare_.release(std::min(unused - kept, kMaxAtOnce));
  seen_ = spare_.bytes();
}

}  // namespace callslip
