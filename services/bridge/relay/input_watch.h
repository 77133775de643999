#ifndef CALLSLIP_BRIDGE_RELAY_INPUT_WATCH_H_
#define CALLSLIP_BRIDGE_RELAY_INPUT_WATCH_H_

#include <functional>
#include <thread>

namespace callslip::bridge {

// Tells when there is input that nobody reads. A thread of its own sleeps until then: while nothing
// arrives, a Start() and a Stop() cost a system call each and wake nobody. Thread-safe.
class InputWatch {
 public:
  // `on_input` is called by the thread of the watch, once for each Start() at most. It may still
  // come when Stop() has returned. `fd`, which the watch does not own, must outlive it.
  InputWatch(int fd, std::function<void()> on_input);
  ~InputWatch();

  InputWatch(const InputWatch&) = delete;
  InputWatch& operator=(const InputWatch&) = delete;

  // False where the descriptor cannot be watched, since reading it never blocks: a file.
  bool Start();
  void Stop();

 private:
  void Run();

  const int fd_;
  const std::function<void()> on_input_;
  const int epoll_;
  const int end_;  // An event descriptor; readable when the thread is to end.
  bool can_watch_;
  std::thread thread_;
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_INPUT_WATCH_H_
