#include "bridge/service/supervisor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "bridge/service/autostart_files.h"
#include "bridge/service/limits.h"
#include "common/log.h"
#include "common/mutex.h"

namespace callslip::bridge {
namespace {

// Keeps one program running.
class Service {
 public:
  Service(std::vector<std::string> command, Clock& clock)
      : command_(std::move(command)),
        clock_(clock),
        sleeper_(clock.NewSleeper()),
        thread_([this] { Run(); }) {}

  // Asks the program to end, and waits for it.
  ~Service() {
    {
      MutexLock lock(&mutex_);
      stopping_ = true;
      if (pid_ > 0) kill(pid_, SIGTERM);
    }
    sleeper_->Wake();
    thread_.join();
  }

 private:
  void Run() {
    absl::Duration delay = kFirstServiceDelay;
    while (Start()) {
      const absl::Time started = clock_.Now();
      Await();
      const absl::Time now = clock_.Now();
      if (now - started > kMaxServiceDelay) delay = kFirstServiceDelay;
      sleeper_->SleepUntil(now + delay);
      delay = std::min(2 * delay, kMaxServiceDelay);
    }
  }

  // False once the service must end.
  bool Start() {
    std::vector<char*> argv;
    for (std::string& argument : command_) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const pid_t supervisor = getpid();
    MutexLock lock(&mutex_);
    if (stopping_) return false;
    const pid_t pid = fork();
    if (pid == 0) {
      // Between here and execv() only calls that are safe after a fork of a multithreaded process.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() == supervisor) execv(argv[0], argv.data());
      _exit(127);
    }
    pid_ = pid;
    return true;
  }

  void Await() {
    pid_t pid = 0;
    {
      MutexLock lock(&mutex_);
      pid = pid_;
    }
    siginfo_t info;
    // Leaves the process as a zombie, so that its id is not reused before pid_ is cleared.
    while (pid > 0 && waitid(P_PID, pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    MutexLock lock(&mutex_);
    if (pid > 0) waitpid(pid, nullptr, 0);
    pid_ = 0;
    if (!stopping_) Log(LogLevel::kWarning, "a service has ended", {{"program", command_[0]}});
  }

  std::vector<std::string> command_;
  Clock& clock_;
  const std::unique_ptr<Sleeper> sleeper_;
  Mutex mutex_;
  pid_t pid_ ABSL_GUARDED_BY(mutex_) = 0;  // 0 if it is not running.
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

std::vector<std::string> TrackerCommand(const AutostartPlan& plan) {
  std::vector<std::string> command = {absl::StrCat(ProgramFolder(), "/callslip-tracker"),
                                      "--listen", plan.tracker_address(), "--drain-grace",
                                      kServiceDrainGrace};
  if (!plan.data_dir.empty()) command.insert(command.end(), {"--data-dir", plan.data_dir});
  return command;
}

std::vector<std::string> GatewayCommand(const AutostartPlan& plan) {
  std::vector<std::string> command = {
      absl::StrCat(ProgramFolder(), "/callslip-gateway"),
      "--listen",
      absl::StrCat(plan.gateway_socket_address(), ",", plan.gateway_address),
      "--listen-when-free",
      "--tracker",
      plan.tracker_address(),
      "--drain-grace",
      kServiceDrainGrace};
  if (!plan.token_file.empty()) command.insert(command.end(), {"--token-file", plan.token_file});
  return command;
}

// Blocks until no bridge is left. Keeps the lock: bridges that start now wait for our end.
void AwaitLastUser(int users) {
  while (flock(users, LOCK_EX) != 0 && errno == EINTR) {
  }
}

// Blocks until one of the locked files is no longer at its path.
void TendFiles(const AutostartPlan& plan, int users, Clock& clock) {
  const std::unique_ptr<Sleeper> sleeper = clock.NewSleeper();
  while (IsAt(kSupervisorLockFd, plan.lock_file()) && IsAt(users, plan.users_file())) {
    Touch({plan.lock_file(), plan.users_file(), plan.log_file(), plan.socket_file(),
           plan.gateway_socket_file()});
    BoundLog(plan.log_file(), kMaxLogBytes);
    sleeper->SleepUntil(clock.Now() + kTendFilesEvery);
  }
  Log(LogLevel::kError, "the lock files were removed: stopping, to start again with new ones",
      {{"lock_file", plan.lock_file()}});
}

}  // namespace

int Supervise(const AutostartPlan& plan, const ShutdownSignal& shutdown, Clock& clock) {
  if (fcntl(kSupervisorLockFd, F_SETFD, FD_CLOEXEC) != 0) return 2;  // Not started by a bridge.
  // These are meant for the bridge; the services receive their settings as flags.
  for (const char* name : {"CALLSLIP_CONFIG", "CALLSLIP_TOKEN", "CALLSLIP_GATEWAY",
                           "CALLSLIP_TLS_CA", "CALLSLIP_TLS_CERT", "CALLSLIP_TLS_KEY"}) {
    unsetenv(name);
  }
  if (chdir("/") != 0) return 1;
  const int users =
      open(plan.users_file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (users < 0) return 1;
  std::thread([users] {
    AwaitLastUser(users);
    kill(getpid(), SIGTERM);
  }).detach();
  std::thread([plan, users, &clock] {
    TendFiles(plan, users, clock);
    kill(getpid(), SIGTERM);
  }).detach();
  {
    auto tracker = std::make_unique<Service>(TrackerCommand(plan), clock);
    auto gateway = std::make_unique<Service>(GatewayCommand(plan), clock);
    shutdown.Wait();
    Log(LogLevel::kInfo, "ending the services");
    std::thread([&clock] {
      clock.NewSleeper()->SleepUntil(clock.Now() + kServicesEndWithin);
      std::_Exit(EXIT_FAILURE);  // The kernel kills the remaining ones.
    }).detach();
    gateway.reset();
    tracker.reset();
  }
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace callslip::bridge
