#ifndef CALLSLIP_TELEMETRY_SPAN_FILE_H_
#define CALLSLIP_TELEMETRY_SPAN_FILE_H_

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

// The spans of a process that are under way or wait to be sent, in a file that outlives it however
// it ends: what was below them elsewhere would else hang in the air. The file is mapped, so that a
// span is written by copying it, and is the kernel's as soon as it is; nothing is synchronised to
// the disk, which is for the end of a process and not of a machine. Thread-safe.
class SpanFile {
 public:
  static constexpr size_t kPlaces = 4096;
  static constexpr size_t kPlaceBytes = 1024;
  // Of one span.
  static constexpr size_t kMaxBytes = kPlaceBytes - sizeof(uint32_t);
  static constexpr int kNowhere = -1;

  // A file of its own in `folder`, which is made where there is none. Takes over what files of
  // `program` hold there that no process has open any more, and removes these.
  static absl::StatusOr<std::unique_ptr<SpanFile>> Open(const std::string& folder,
                                                        absl::string_view program);
  // Removes the file where nothing is left in it.
  ~SpanFile();
  SpanFile(const SpanFile&) = delete;
  SpanFile& operator=(const SpanFile&) = delete;

  // Returns its place, or kNowhere: it is too long, or there is no room.
  int Put(absl::string_view bytes);
  // Nothing for kNowhere.
  void Free(int place);

  // What was taken over, with its place here. Once.
  std::vector<std::pair<int, std::string>> TakeLost() { return std::exchange(lost_, {}); }

 private:
  SpanFile(std::string path, int fd, char* places);

  void TakeOver(const std::string& path);

  const std::string path_;
  const int fd_;
  char* const places_;
  std::vector<std::pair<int, std::string>> lost_;
  Mutex mutex_;
  // The last that was freed is used next, so that few pages are ever touched.
  std::vector<int> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_SPAN_FILE_H_
