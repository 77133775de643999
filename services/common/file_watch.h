#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/mutex.h"

namespace callslip {

// Detects when files change: are written to, replaced, removed or created. Polls them on its own
// thread, which works on any file system.
class FileWatch {
 public:
  // Two looks within the second that a change can take to apply.
  static constexpr absl::Duration kEvery = absl::Milliseconds(400);

  // Calls `on_change` on the watch's thread, once for all files that changed since the last look.
  // The first look counts as a change, because a caller that read the files earlier may have missed
  // one. If `every` is infinite there is no thread, and the owner calls Look().
  FileWatch(std::vector<std::string> paths, std::function<void()> on_change,
            absl::Duration every = kEvery);
  // Returns once no `on_change` is running.
  ~FileWatch();

  // Looks now. Returns whether anything has changed; `on_change` was then called.
  bool Look();

 private:
  std::string Appearance() const;

  const std::vector<std::string> paths_;
  const std::function<void()> on_change_;
  Mutex mutex_;
  CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::string seen_;  // Used only by the thread that calls Look().
  std::thread thread_;
};

}  // namespace callslip
