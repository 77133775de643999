#include "common/file_watch.h"

#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace callslip {

FileWatch::FileWatch(std::vector<std::string> paths, std::function<void()> on_change,
                     absl::Duration every)
    : paths_(std::move(paths)), on_change_(std::move(on_change)) {
  if (every == absl::InfiniteDuration()) return;
  thread_ = std::thread([this, every] {
    for (;;) {
      {
        MutexLock lock(&mutex_);
        if (!stop_) stopped_.WaitFor(&mutex_, every);
        if (stop_) return;
      }
      Look();
    }
  });
}

FileWatch::~FileWatch() {
  {
    MutexLock lock(&mutex_);
    stop_ = true;
    stopped_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool FileWatch::Look() {
  std::string now = Appearance();
  if (now == seen_) return false;
  seen_ = std::move(now);
  on_change_();
  return true;
}

std::string FileWatch::Appearance() const {
  std::string appearance;
  for (const std::string& path : paths_) {
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0) info = {};
    absl::StrAppend(&appearance, info.st_dev, ":", info.st_ino, ":", info.st_size, ":",
                    info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, ":", info.st_ctim.tv_sec, ".",
                    info.st_ctim.tv_nsec, ";");
  }
  return appearance;
}

}  // namespace callslip
