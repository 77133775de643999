#include "common/memory_release.h"

#include <algorithm>
#include <utility>

// Of tcmalloc, in programs that are linked with it; null in others.
extern "C" {
__attribute__((weak)) int MallocExtension_GetNumericProperty(const char* property, size_t* value);
__attribute__((weak)) void MallocExtension_ReleaseToSystem(size_t num_bytes);
}

namespace callslip {

SpareMemory SpareMemory::OfThisProcess() {
  if (MallocExtension_GetNumericProperty == nullptr || MallocExtension_ReleaseToSystem == nullptr) {
    return {};
  }
  return {.bytes =
              [] {
                size_t bytes = 0;
                MallocExtension_GetNumericProperty("tcmalloc.pageheap_free_bytes", &bytes);
                return bytes;
              },
          .release = [](size_t bytes) { MallocExtension_ReleaseToSystem(bytes); }};
}

MemoryRelease::MemoryRelease(SpareMemory spare) : spare_(std::move(spare)) {}

void MemoryRelease::Look() {
  if (spare_.bytes == nullptr) return;
  const size_t spare = spare_.bytes();
  const size_t unused = std::min(spare, std::exchange(seen_, spare));
  if (unused <= kKept) return;
  spare_.release(std::min(unused - kKept, kMostAtOnce));
  seen_ = spare_.bytes();
}

}  // namespace callslip
