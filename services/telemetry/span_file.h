#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"

namespace callslip {

// The in-progress and queued spans of a process, in a file that survives any end of the process:
// otherwise their child spans in other programs would have no parent. The file is mapped, so that
// writing a span is a copy, which the kernel owns at once. Nothing is synced to the disk: this
// protects against the end of a process, not of a machine. Thread-safe.
class SpanFile {
 public:
  static constexpr size_t kPlaces = 4096;
  static constexpr size_t kPlaceBytes = 1024;
  // The maximum size of one span.
  static constexpr size_t kMaxBytes = kPlaceBytes - sizeof(uint32_t);
  static constexpr int kNowhere = -1;

  // Creates a new file in `folder`, which is created if absent. Takes over the content of files of
  // `program` there that no process has open any more, and removes these.
  static absl::StatusOr<std::unique_ptr<SpanFile>> Open(const std::string& folder,
                                                        absl::string_view program);
  // Removes the file if it is empty.
  ~SpanFile();
  SpanFile(const SpanFile&) = delete;
  SpanFile& operator=(const SpanFile&) = delete;

  // Returns the span's place, or kNowhere if it is too long or the file is full.
  int Put(absl::string_view bytes);
  // Does nothing for kNowhere.
  void Free(int place);

  // The spans that were taken over, with their places here. Call it once.
  std::vector<std::pair<int, std::string>> TakeLost() { return std::exchange(lost_, {}); }

 private:
  SpanFile(std::string path, int fd, char* places);

  void TakeOver(const std::string& path);

  const std::string path_;
  const int fd_;
  char* const places_;
  std::vector<std::pair<int, std::string>> lost_;
  Mutex mutex_;
  // The last freed place is used next, so that few pages are ever touched.
  std::vector<int> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip
