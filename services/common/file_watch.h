#ifndef CALLSLIP_COMMON_FILE_WATCH_H_
#define CALLSLIP_COMMON_FILE_WATCH_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/mutex.h"

namespace callslip {

// Says when files become others: written to, replaced, removed or made. Looks at them every so
// often, on a thread of its own, which works for whatever they lie on.
class FileWatch {
 public:
  // Twice within the second that those who change them may have to wait.
  static constexpr absl::Duration kEvery = absl::Milliseconds(400);

  // `on_change` is called on the watch's thread, once for all files that have changed meanwhile.
  // The first look counts as a change: whoever has read the files before may have missed one. With
  // an infinite time there is no thread, and whoever made the watch calls Look().
  FileWatch(std::vector<std::string> paths, std::function<void()> on_change,
            absl::Duration every = kEvery);
  // Returns once no `on_change` is under way.
  ~FileWatch();

  // Looks now. Returns whether anything has changed, which was then told.
  bool Look();

 private:
  std::string Appearance() const;

  const std::vector<std::string> paths_;
  const std::function<void()> on_change_;
  Mutex mutex_;
  CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::string seen_;  // Used by whoever looks.
  std::thread thread_;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_FILE_WATCH_H_
