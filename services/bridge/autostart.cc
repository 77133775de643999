#include "bridge/autostart.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "bridge/autostart_files.h"
#include "bridge/doctor.h"
#include "bridge/limits.h"
#include "bridge/supervisor.h"
#include "common/address.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

std::string FolderPath() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return absl::StrCat(runtime, "/callslip");
  return absl::StrCat("/tmp/callslip-", geteuid());
}

// Empty where there is none.
std::string DataFolderPath() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') return absl::StrCat(data, "/callslip");
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return absl::StrCat(home, "/.local/share/callslip");
  return "";
}

// The data directory of the tracker for `name`, in a folder that there is; empty where there can't
// be one.
std::string DataDirectory(const std::string& name) {
  const std::filesystem::path folder = DataFolderPath();
  if (folder.empty()) return "";
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  // What agents and people say to each other is nobody else's business.
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return "";
  return (folder / name).string();
}

// Others must not be able to put files there that we would lock, log to or connect to.
absl::Status MakePrivateFolder(const std::string& path) {
  struct stat found;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::FailedPreconditionError(
        absl::StrCat("--autostart cannot make the folder ", path, ": ", std::strerror(errno)));
  }
  if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
      (found.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("--autostart needs ", path,
                     " to be a folder of yours with mode 700: remove what is there"));
  }
  return absl::OkStatus();
}

// The supervisor gets the lock with the descriptor: it is never free in between.
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
  // A Ctrl-C, or the end of the agent's terminal, is not for the services of other agents.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat("cannot start ", arguments[0]));
  return pid;
}

}  // namespace

absl::StatusOr<AutostartPlan> PlanAutostart(const GatewayUrl& gateway,
                                            const std::string& token_file) {
  absl::string_view host_port = gateway.origin;
  const bool is_http = absl::ConsumePrefix(&host_port, "http://");
  const absl::StatusOr<Address> address = ParseAddress(host_port);
  if (!is_http || !address.ok() || !address->IsLoopback() || gateway.path != "/mcp") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--autostart starts a gateway on this machine: --gateway must be http://127.0.0.1:PORT, "
        "and is ",
        gateway.ToString()));
  }
  const std::string folder = FolderPath();
  const std::string name =
      absl::StrReplaceAll(address->ToString(), {{":", "-"}, {"[", ""}, {"]", ""}});
  std::error_code ignored;
  AutostartPlan plan = {.gateway_address = address->ToString(),
                        .gateway_url = gateway.origin,
                        .token_file = token_file.empty()
                                          ? ""
                                          : std::filesystem::absolute(token_file, ignored).string(),
                        .base = absl::StrCat(folder, "/", name)};
  if (plan.gateway_socket_file().size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--autostart has a socket at ", plan.gateway_socket_file(),
                     ", which is too long for one: unset XDG_RUNTIME_DIR, or name a shorter one"));
  }
  RETURN_IF_ERROR(MakePrivateFolder(folder));
  plan.data_dir = DataDirectory(name);
  return plan;
}

std::string ProgramFolder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

void ReportTakenAddresses(GatewayClient& gateway, Clock& clock, absl::Duration patience) {
  const std::unique_ptr<Sleeper> sleeper = clock.NewSleeper();
  const absl::Time end = clock.Now() + patience;
  std::optional<std::vector<std::string>> taken;
  while (!(taken = AddressesOfOthers(gateway)).has_value() && clock.Now() < end) {
    sleeper->SleepUntil(clock.Now() + kFirstBackoff);
  }
  if (!taken.has_value()) return;
  for (const std::string& address : *taken) {
    Log(LogLevel::kError,
        "another program listens at the gateway's address: browsers and agents that use it do not "
        "reach this gateway. The bridge goes on over its own socket; end that program",
        {{"address", address}});
  }
}

absl::Status KeepServicesRunning(const AutostartPlan& plan, Clock& clock) {
  const std::unique_ptr<Sleeper> sleeper = clock.NewSleeper();
  // Kept open to the end. Blocks while the services of the bridges before are being ended.
  ASSIGN_OR_RETURN(int users, OpenAndLock(plan.users_file(), LOCK_SH));
  pid_t supervisor = 0;
  while (true) {
    // Blocks for as long as there is a supervisor.
    ASSIGN_OR_RETURN(const int lock, OpenAndLock(plan.lock_file(), LOCK_EX));
    // Where somebody has removed a file, what others lock is another one.
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
    // However many bridges there are, one supervisor is started in this time.
    sleeper->SleepUntil(clock.Now() + kSupervisorPause);
    close(lock);
    RETURN_IF_ERROR(started.status());
  }
}

}  // namespace callslip::bridge
