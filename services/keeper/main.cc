// callslip-keeper: starts one agent, and ensures that no process started by it outlives the agent
// or the process that requested it, called the runner here: neither processes that left the agent's
// process group and session nor orphans. One process per agent, so it links only libc.
//
//   callslip-keeper [--grace MS] [--in DIRECTORY] [--linger] -- COMMAND [ARGUMENT]...
//
// COMMAND is looked up in PATH, inherits the keeper's stdin, stdout, stderr and environment, works
// in DIRECTORY, and leads its own session. Descriptor 3 is a socket to the runner; the keeper
// writes lines:
//
//   started PID      it is running
//   failed ERRNO     it could not be started; the keeper ends
//   nowhere ERRNO    the same, because DIRECTORY cannot be entered
//   exited CODE      it has ended; the keeper ends the remaining processes, unless --linger
//   signalled SIGNAL the same, ended by a signal
//   swept COUNT      no process is left; COUNT had to be killed. The keeper ends with 0.
//
// and reads single characters:
//
//   t  SIGTERM to the agent's process group
//   k  SIGKILL to all remaining processes
//
// With --linger, the processes that COMMAND leaves behind live on until they end by themselves,
// `k`, or the end of the socket: a shell that has started a server in the background, for example.
//
// DIRECTORY can be /proc/self/fd/4, a folder that the runner has opened; COMMAND does not get the
// descriptor. COMMAND's process enters it, so that a file system that hangs holds up nobody else.
//
// If the socket's other end closes, the agent gets SIGTERM and, --grace later (2,000 ms by
// default), it and all remaining processes get SIGKILL. The keeper ignores signals that end other
// programs: to end the agent, send `t` or `k` over the socket, or kill the agent. If the keeper
// itself is killed, so is the agent, and its descendants go to the next reaper above, the runner.
//
// Ends with 64 if called incorrectly, 71 if the system denies what it needs.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr int kRunner = 3;
constexpr int kFolder = 4;
constexpr int kWrongUse = 64;
constexpr int kDenied = 71;
constexpr long kNever = -1;
constexpr long kMaxGrace = 600'000;
// Children of the only thread.
constexpr char kChildren[] = "/proc/thread-self/children";

int Fail(int code, const char* what) {
  if (code == kDenied) {
    dprintf(STDERR_FILENO, "callslip-keeper: %s: %s\n", what, strerror(errno));
  } else {
    dprintf(STDERR_FILENO, "callslip-keeper: %s\n", what);
  }
  return code;
}

// Ignores errors: if the runner is gone, reading from it will show that.
void Tell(const char* word, int number) { dprintf(kRunner, "%s %d\n", word, number); }

long NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Signals that the keeper ignores. The agent starts with their default actions.
constexpr int kIgnored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

// What the runner asks for. `directory` is null for the keeper's own.
struct Order {
  char** command;
  const char* directory;
};

// Why the command was not started.
struct Failure {
  const char* word;
  int error;
};

[[noreturn]] void Report(const char* word, int failed) {
  const Failure failure = {word, errno};
  (void)!write(failed, &failure, sizeof(failure));
  _exit(kDenied);
}

// Runs in the child: executes the command once `go` is closed, or writes a Failure to `failed`.
[[noreturn]] void Become(const Order& order, const sigset_t& mask, pid_t keeper, int go,
                         int failed) {
  setsid();
  // For the end of the keeper: this reports the end of a thread, and the keeper has only one.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(kDenied);
  char nothing;
  while (read(go, &nothing, 1) < 0 && errno == EINTR) {
  }
  for (const int number : kIgnored) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (order.directory != nullptr && chdir(order.directory) != 0) Report("nowhere", failed);
  execvp(order.command[0], order.command);
  Report("failed", failed);
}

// So that the agent alone holds the other ends of the runner's pipes.
void LetGoOfStdio() {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stdio = STDIN_FILENO; stdio <= STDERR_FILENO; ++stdio) {
    if (nothing < 0 || dup2(nothing, stdio) < 0) close(stdio);
  }
}

// Returns once `report` can be read. An agent that hangs in its directory until the runner gives it
// up is killed, so that it is never executed. What the runner says is left for Listen().
void AwaitReport(int report, pid_t agent) {
  bool is_wanted = true;
  for (;;) {
    pollfd watched[] = {{report, POLLIN, 0}, {is_wanted ? kRunner : -1, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0) continue;
    if (watched[0].revents != 0) return;
    kill(agent, SIGKILL);
    is_wanted = false;
  }
}

// Returns the agent's pid, or 0 with `failure`. When this returns, the agent has been executed;
// that happens only after the keeper has released stdio.
pid_t Start(const Order& order, const sigset_t& mask, Failure& failure) {
  int failed[2], go[2];
  if (pipe2(failed, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) {
    failure = {"failed", errno};
    return 0;
  }
  const pid_t keeper = getpid();
  const pid_t agent = fork();
  if (agent == 0) {
    close(go[1]);
    Become(order, mask, keeper, go[0], failed[1]);
  }
  failure = {"failed", agent < 0 ? errno : 0};
  LetGoOfStdio();
  close(go[0]);
  close(go[1]);
  close(failed[1]);
  if (agent > 0) AwaitReport(failed[0], agent);
  if (agent > 0 && read(failed[0], &failure, sizeof(failure)) > 0) waitpid(agent, nullptr, 0);
  close(failed[0]);
  return failure.error == 0 ? agent : 0;
}

class Keeper {
 public:
  Keeper(pid_t agent, int signals, long grace, bool lingers)
      : agent_(agent), signals_(signals), grace_(grace), lingers_(lingers) {}

  // Returns when the agent has ended, and with --linger all remaining processes, too; or when they
  // must be killed.
  void Watch() {
    while (IsNeeded() && (kill_at_ == kNever || NowMs() < kill_at_)) {
      pollfd watched[] = {{signals_, POLLIN, 0}, {runner_lives_ ? kRunner : -1, POLLIN, 0}};
      const long until_kill = kill_at_ - NowMs();
      const long left = kill_at_ == kNever ? -1 : until_kill > 0 ? until_kill : 0;
      if (poll(watched, 2, static_cast<int>(left)) < 0) continue;
      if (watched[1].revents != 0) Listen();
      if (watched[0].revents != 0) {
        signalfd_siginfo ended;
        (void)!read(signals_, &ended, sizeof(ended));
        pid_t reaped = 0;
        while ((reaped = Reap(WNOHANG)) > 0) {
        }
        any_child_ = reaped == 0;
      }
    }
  }

  // Kills children until there are none: when one ends, its own children become the keeper's.
  // Returns the number killed.
  int Sweep() {
    int all = 0;
    for (;;) {
      const int killed = KillChildren();
      all += killed;
      // Processes that end during the listing can hide others, which the next pass finds.
      if (Reap(killed > 0 ? 0 : WNOHANG) < 0) return all;
      while (Reap(WNOHANG) > 0) {
      }
    }
  }

 private:
  bool IsNeeded() const { return agent_lives_ || (lingers_ && any_child_ && runner_lives_); }

  void Listen() {
    char order = 0;
    const ssize_t got = read(kRunner, &order, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      runner_lives_ = false;
      kill_at_ = NowMs() + grace_;
    }
    // Once the agent has ended, its pid can belong to another process.
    if ((got <= 0 || order == 't') && agent_lives_) kill(-agent_, SIGTERM);
    if (got > 0 && order == 'k') kill_at_ = NowMs();
  }

  // Returns the result of waitpid().
  pid_t Reap(int options) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, options);
    if (ended == agent_) {
      agent_lives_ = false;
      if (WIFEXITED(status)) Tell("exited", WEXITSTATUS(status));
      if (WIFSIGNALED(status)) Tell("signalled", WTERMSIG(status));
    }
    return ended;
  }

  // Returns the number of children that had not ended yet.
  static int KillChildren() {
    FILE* children = fopen(kChildren, "re");
    if (children == nullptr) return 0;
    int killed = 0;
    for (int child = 0; fscanf(children, "%d", &child) == 1;) {
      siginfo_t ended = {};
      waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
      if (ended.si_pid == child) continue;
      kill(child, SIGKILL);
      ++killed;
    }
    fclose(children);
    return killed;
  }

  const pid_t agent_;
  const int signals_;
  const long grace_;
  const bool lingers_;
  bool agent_lives_ = true;
  bool any_child_ = true;
  bool runner_lives_ = true;
  long kill_at_ = kNever;
};

}  // namespace

int main(int count, char** words) {
  long grace = 2'000;
  int at = 1;
  if (at + 1 < count && strcmp(words[at], "--grace") == 0) {
    char* end = nullptr;
    grace = strtol(words[at + 1], &end, 10);
    if (*end != '\0' || end == words[at + 1] || grace < 0 || grace > kMaxGrace) {
      return Fail(kWrongUse, "--grace wants 0 to 600000 ms");
    }
    at += 2;
  }
  Order order = {nullptr, nullptr};
  if (at + 1 < count && strcmp(words[at], "--in") == 0) {
    order.directory = words[at + 1];
    at += 2;
  }
  const bool lingers = at < count && strcmp(words[at], "--linger") == 0;
  if (lingers) ++at;
  if (at + 1 >= count || strcmp(words[at], "--") != 0) {
    return Fail(kWrongUse,
                "usage: callslip-keeper [--grace MS] [--in DIRECTORY] [--linger] -- COMMAND "
                "[ARGUMENT]...");
  }
  order.command = words + at + 1;
  fcntl(kFolder, F_SETFD, FD_CLOEXEC);  // There need not be one.
  if (fcntl(kRunner, F_SETFD, FD_CLOEXEC) != 0) {
    return Fail(kWrongUse, "descriptor 3 must be the socket of the program that starts agents");
  }
  if (access(kChildren, R_OK) != 0) return Fail(kDenied, kChildren);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return Fail(kDenied, "prctl");

  for (const int number : kIgnored) signal(number, SIG_IGN);
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ends, &before);
  const int signals = signalfd(-1, &ends, SFD_CLOEXEC);
  if (signals < 0) return Fail(kDenied, "signalfd");

  Failure failure;
  const pid_t agent = Start(order, before, failure);
  if (agent == 0) {
    Tell(failure.word, failure.error);
    return 0;
  }
  Tell("started", agent);
  Keeper keeper(agent, signals, grace, lingers);
  keeper.Watch();
  Tell("swept", keeper.Sweep());
  return 0;
}
