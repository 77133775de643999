#include "bridge/relay/parent_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace callslip::bridge {
namespace {

// The interval for polling the parent's id, well within the second in which the bridge must exit.
constexpr int kLookIntervalMs = 100;

}  // namespace

ParentWatch::ParentWatch()
    : parent_(getppid()), parent_fd_(static_cast<int>(syscall(SYS_pidfd_open, parent_, 0))) {}

ParentWatch::~ParentWatch() {
  if (parent_fd_ >= 0) close(parent_fd_);
}

void ParentWatch::Wait() const {
  pollfd watched = {.fd = parent_fd_, .events = POLLIN, .revents = 0};  // poll() skips an fd of -1.
  while (getppid() == parent_) {
    if (poll(&watched, 1, parent_fd_ < 0 ? kLookIntervalMs : -1) > 0) return;
  }
}

}  // namespace callslip::bridge
