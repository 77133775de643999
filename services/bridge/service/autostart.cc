#include "bridge/service/autostart.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bridge/doctor/doctor.h"
#include "bridge/service/autostart_files.h"
#include "bridge/service/limits.h"
#include "bridge/service/supervisor.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

// The supervisor inherits the lock with the descriptor: it is never free in between.
absl::StatusOr<pid_t> StartSupervisor(const AutostartPlan& plan, int lock) {
  std::vector<std::string> arguments = {absl::StrCat(ProgramFolder(), "/callslip-bridge"),
                                        kSuperviseCommand, "--gateway", plan.gateway_url};
  if (!plan.token_file.empty()) {
    arguments.insert(arguments.end(), {"--token-file", plan.token_file});
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, lock, kSupervisorLockFd);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const std::string log = plan.log_file();
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A Ctrl-C, or the end of the agent's terminal, must not reach the services of other agents.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat("cannot start ", arguments[0]));
  return pid;
}

}  // namespace

void ReportTakenAddresses(GatewayClient& gateway, Clock& clock, absl::Duration patience) {
  const std::unique_ptr<Sleeper> sleeper = clock.NewSleeper();
  const absl::Time end = clock.Now() + patience;
  std::optional<std::vector<std::string>> taken;
  while (!(taken = AddressesOfOthers(gateway)).has_value() && clock.Now() < end) {
    sleeper->SleepUntil(clock.Now() + kAskEvery);
  }
  if (!taken.has_value()) return;
  for (const std::string& address : *taken) {
    Log(LogLevel::kError,
        "another program listens at the gateway's address: browsers and agents that use it do not "
        "reach this gateway. The bridge continues over its own socket; stop that program",
        {{"address", address}});
  }
}

absl::Status KeepServicesRunning(const AutostartPlan& plan, Clock& clock) {
  const std::unique_ptr<Sleeper> sleeper = clock.NewSleeper();
  // Stays open to the end. Blocks while the services of previous bridges are being stopped.
  ASSIGN_OR_RETURN(int users, OpenAndLock(plan.users_file(), LOCK_SH));
  pid_t supervisor = 0;
  while (true) {
    // Blocks as long as there is a supervisor.
    ASSIGN_OR_RETURN(const int lock, OpenAndLock(plan.lock_file(), LOCK_EX));
    // If a file has been removed, other processes lock a different one.
    const bool users_lost = !IsAt(users, plan.users_file());
    if (users_lost) {
      close(users);
      ASSIGN_OR_RETURN(users, OpenAndLock(plan.users_file(), LOCK_SH));
    }
    if (users_lost || !IsAt(lock, plan.lock_file())) {
      close(lock);
      continue;
    }
    if (supervisor > 0) waitpid(supervisor, nullptr, WNOHANG);
    const absl::StatusOr<pid_t> started = StartSupervisor(plan, lock);
    Log(started.ok() ? LogLevel::kInfo : LogLevel::kError, "starting the services",
        {{"log_file", plan.log_file()}});
    supervisor = started.value_or(0);
    // Only one supervisor is started in this time, regardless of the number of bridges.
    sleeper->SleepUntil(clock.Now() + kSupervisorPause);
    close(lock);
    RETURN_IF_ERROR(started.status());
  }
}

}  // namespace callslip::bridge
