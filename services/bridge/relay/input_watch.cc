#include "bridge/relay/input_watch.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace callslip::bridge {
namespace {

bool Control(int epoll, int operation, int fd, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

}  // namespace

InputWatch::InputWatch(int fd, std::function<void()> on_input)
    : fd_(fd),
      on_input_(std::move(on_input)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      end_(eventfd(0, EFD_CLOEXEC)),
      can_watch_(Control(epoll_, EPOLL_CTL_ADD, fd_, EPOLLONESHOT)) {
  Control(epoll_, EPOLL_CTL_ADD, end_, EPOLLIN);
  thread_ = std::thread([this] { Run(); });
}

InputWatch::~InputWatch() {
  eventfd_write(end_, 1);
  thread_.join();
  close(end_);
  close(epoll_);
}

bool InputWatch::Start() {
  return can_watch_ && Control(epoll_, EPOLL_CTL_MOD, fd_, EPOLLIN | EPOLLONESHOT);
}

// epoll reports an end or an error even if it was not requested; ONESHOT limits that to once.
void InputWatch::Stop() { Control(epoll_, EPOLL_CTL_MOD, fd_, EPOLLONESHOT); }

void InputWatch::Run() {
  while (true) {
    epoll_event event = {};
    const int count = epoll_wait(epoll_, &event, 1, /*timeout=*/-1);
    if (count < 0 && errno != EINTR) return;
    if (count <= 0) continue;
    if (event.data.fd == end_) return;
    on_input_();
  }
}

}  // namespace callslip::bridge
