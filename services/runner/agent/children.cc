#include "runner/agent/children.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace callslip::runner {
namespace {

// An orphan can become a child of any thread of its reaper.
std::vector<pid_t> ChildrenOfAllThreads() {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

Children& Children::OfThisProcess() {
  static auto* const children = new Children();
  return *children;
}

Children::Children() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

int Children::Spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                    char* const* arguments, char* const* environment) {
  // No other thread may look for strays before the child is registered.
  const absl::MutexLock lock(&mutex_);
  const int error = posix_spawn(child, path, actions, nullptr, arguments, environment);
  if (error == 0) own_.insert(*child);
  return error;
}

void Children::Wait(pid_t child) {
  waitpid(child, nullptr, 0);
  const absl::MutexLock lock(&mutex_);
  own_.erase(child);
}

pid_t Children::KillStrays() {
  const absl::MutexLock lock(&mutex_);
  for (;;) {
    pid_t left = 0;
    bool reaped = false;
    for (const pid_t child : ChildrenOfAllThreads()) {
      if (own_.count(child) > 0) continue;
      kill(child, SIGKILL);
      if (waitpid(child, nullptr, WNOHANG) == 0) {
        left = child;
      } else {
        reaped = true;
      }
    }
    // A reaped process may have left children that this scan missed.
    if (!reaped) return left;
  }
}

void Children::KillAll() {
  std::set<pid_t> keepers;
  {
    const absl::MutexLock lock(&mutex_);
    keepers = own_;
  }
  for (const pid_t keeper : keepers) kill(keeper, SIGKILL);
  for (const pid_t keeper : keepers) Wait(keeper);
  constexpr int kTries = 50, kTryMs = 100;
  for (int i = 0; i < kTries; ++i) {
    const pid_t left = KillStrays();
    if (left == 0) return;
    const int end = static_cast<int>(syscall(SYS_pidfd_open, left, 0));
    pollfd watched = {end, POLLIN, 0};
    poll(&watched, 1, kTryMs);
    if (end >= 0) close(end);
  }
}

}  // namespace callslip::runner
