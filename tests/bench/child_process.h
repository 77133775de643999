#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace callslip::bench {

// What a server that runs in a child tells the benchmark. Thread-safe.
class ParentLink {
 public:
  explicit ParentLink(int fd) : fd_(fd) {}

  // Once, before any event.
  void Listening(uint16_t port) const;
  void Event(char event) const;

 private:
  const int fd_;
};

// In a forked server: lets `action` run, on a thread of its own, each time the parent pokes. To be
// called before any other thread is started.
void OnPoke(std::function<void()> action);

// A server in a process of its own, so that it shares no thread and no memory with the load client.
// It ends with this object, and with the benchmark in any case.
//
// A fork copies open connections, and does not copy threads: create all children before the first
// connection is opened, and before gRPC is used.
class ChildProcess {
 public:
  // Forks and runs `serve`, which must not return.
  static ChildProcess Fork(const std::function<void(const ParentLink&)>& serve);
  // Runs a program of ours with these options, on a port that it picks; it logs errors only.
  static ChildProcess Exec(const std::string& program, const std::vector<std::string>& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  uint16_t port() const { return port_; }

  // False if a forked server did not report `event` in time. Skips no event: another one than the
  // expected one ends the benchmark.
  bool AwaitEvent(char event, std::chrono::milliseconds patience) const;

  // Has a forked server do what it has prepared (see OnPoke()).
  void Poke() const;

  int64_t ResidentBytes() const;

 private:
  ChildProcess(pid_t pid, int fd) : pid_(pid), fd_(fd) {}

  pid_t pid_;
  int fd_;  // What it tells.
  uint16_t port_ = 0;
};

// Keeps this process, and the children that it forks from now on, to one core. A wake-up costs 40
// us within a core and 90 us across two here: left to the scheduler, each server would have the one
// or the other.
void RunOnCore(int core);

}  // namespace callslip::bench
