#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace callslip::bench {

// Reports of a server in a child process to the benchmark. Thread-safe.
class ParentLink {
 public:
  explicit ParentLink(int fd) : fd_(fd) {}

  // Once, before any event.
  void Listening(uint16_t port) const;
  void Event(char event) const;

 private:
  const int fd_;
};

// In a forked server: runs `action` on a thread of its own each time the parent pokes. Has to be
// called before any other thread is started.
void OnPoke(std::function<void()> action);

// A server in a process of its own, so that it shares no thread and no memory with the load client.
// It ends with this object, and with the benchmark in any case.
//
// A fork copies open connections, but not threads: create all children before the first connection
// is opened, and before gRPC is used.
class ChildProcess {
 public:
  // Forks and runs `serve`, which must not return.
  static ChildProcess Fork(const std::function<void(const ParentLink&)>& serve);
  // Runs one of our programs with these options, on a port of its choice; it logs errors only.
  static ChildProcess Exec(const std::string& program, const std::vector<std::string>& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  uint16_t port() const { return port_; }

  // False if a forked server did not report `event` in time. Skips no event: an unexpected event
  // ends the benchmark.
  bool AwaitEvent(char event, std::chrono::milliseconds patience) const;

  // Runs the action of the forked server (see OnPoke()).
  void Poke() const;

  int64_t ResidentBytes() const;

 private:
  ChildProcess(pid_t pid, int fd) : pid_(pid), fd_(fd) {}

  pid_t pid_;
  int fd_;  // The child's reports.
  uint16_t port_ = 0;
};

// Keeps this process, and the children that it forks from now on, on one core. A wake-up costs 40
// us within a core and 90 us across two here: the scheduler would give some servers the one cost
// and some the other.
void RunOnCore(int core);

}  // namespace callslip::bench
