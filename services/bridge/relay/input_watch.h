#pragma once

#include <functional>
#include <thread>

namespace callslip::bridge {

// Notifies when there is input that no thread reads. Its own thread sleeps until then: while
// nothing arrives, a Start() and a Stop() cost one system call each and wake no thread.
// Thread-safe.
class InputWatch {
 public:
  // The thread of the watch calls `on_input`, at most once for each Start(). A call can still
  // arrive after Stop() has returned. `fd`, which the watch does not own, must outlive it.
  InputWatch(int fd, std::function<void()> on_input);
  ~InputWatch();

  InputWatch(const InputWatch&) = delete;
  InputWatch& operator=(const InputWatch&) = delete;

  // False if the descriptor cannot be watched because reading it never blocks: a file.
  bool Start();
  void Stop();

 private:
  void Run();

  const int fd_;
  const std::function<void()> on_input_;
  const int epoll_;
  const int end_;  // An event descriptor; readable when the thread must end.
  bool can_watch_;
  std::thread thread_;
};

}  // namespace callslip::bridge
