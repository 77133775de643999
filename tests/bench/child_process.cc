#include "bench/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>
#include <thread>
#include <utility>

#include "bench/die.h"

namespace callslip::bench {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) Die("pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
  int read_end;
  int write_end;
};

// Forks a child that the kernel kills when the benchmark ends in whatever way. Returns 0 in the
// child.
pid_t ForkBound() {
  const pid_t parent = getpid();
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) Die("fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
  }
  return pid;
}

// The port in the line "listening on HOST:PORT".
uint16_t ReadListeningPort(int fd, const std::string& program) {
  std::string text;
  const std::string label = "listening on ";
  for (char byte = 0; read(fd, &byte, 1) == 1;) {
    if (byte != '\n') {
      text += byte;
      continue;
    }
    if (text.starts_with(label)) {
      return static_cast<uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
    }
    std::fprintf(stderr, "%s\n", text.c_str());
    text.clear();
  }
  Die(program + " ended before it was listening");
}

}  // namespace

void ParentLink::Listening(uint16_t port) const {
  if (write(fd_, &port, sizeof(port)) != sizeof(port)) Die("report the port");
}

void ParentLink::Event(char event) const {
  if (write(fd_, &event, 1) != 1) Die("report an event");
}

ChildProcess ChildProcess::Fork(const std::function<void(const ParentLink&)>& serve) {
  const Pipe pipe;
  const pid_t pid = ForkBound();
  if (pid == 0) {
    close(pipe.read_end);
    serve(ParentLink(pipe.write_end));
    Die("a server returned");
  }
  close(pipe.write_end);
  ChildProcess child(pid, pipe.read_end);
  if (read(child.fd_, &child.port_, sizeof(child.port_)) != sizeof(child.port_)) {
    Die("a server ended before it was listening");
  }
  return child;
}

ChildProcess ChildProcess::Exec(const std::string& program,
                                const std::vector<std::string>& options) {
  std::vector<std::string> command = {program, "--listen", "127.0.0.1:0", "--log-level", "error"};
  command.insert(command.end(), options.begin(), options.end());
  const Pipe pipe;
  const pid_t pid = ForkBound();
  if (pid == 0) {
    dup2(pipe.write_end, STDERR_FILENO);
    std::vector<char*> argv;
    for (std::string& argument : command) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    Die("run " + command[0]);
  }
  close(pipe.write_end);
  ChildProcess child(pid, pipe.read_end);
  child.port_ = ReadListeningPort(child.fd_, command[0]);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), fd_(std::exchange(other.fd_, -1)), port_(other.port_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  close(fd_);
}

bool ChildProcess::AwaitEvent(char event, std::chrono::milliseconds patience) const {
  pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return false;
  char got = 0;
  if (read(fd_, &got, 1) != 1 || got != event) Die("a server died or reported out of turn");
  return true;
}

void ChildProcess::Poke() const {
  if (kill(pid_, SIGUSR1) != 0) Die("poke a server");
}

void OnPoke(std::function<void()> action) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, action = std::move(action)] {
    for (int signal = 0; sigwait(&signals, &signal) == 0;) action();
  }).detach();
}

int64_t ChildProcess::ResidentBytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

void RunOnCore(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core % static_cast<int>(std::thread::hardware_concurrency()), &cores);
  if (sched_setaffinity(0, sizeof(cores), &cores) != 0) Die("choose a core");
}

}  // namespace callslip::bench
