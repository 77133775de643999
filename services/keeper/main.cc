// callslip-keeper: starts one agent, and sees to it that nothing which came of it outlives it, or
// whoever has asked for it, called the runner here: neither what left the agent's process group and
// session nor what its parent left behind. One process per agent, so it links nothing but libc.
//
//   callslip-keeper [--grace MS] [--linger] -- COMMAND [ARGUMENT]...
//
// COMMAND is looked up in PATH, gets the keeper's stdin, stdout, stderr and environment, and is the
// leader of a session of its own. Descriptor 3 is a socket to the runner; the keeper writes lines:
//
//   started PID      it runs
//   failed ERRNO     it could not be started; the keeper ends
//   exited CODE      it has ended; what it left behind is being ended, or lives on with --linger
//   signalled SIGNAL the same
//   swept COUNT      nothing is left; so many processes had to be killed. The keeper ends, with 0.
//
// and reads single characters:
//
//   t  SIGTERM to the agent's process group
//   k  SIGKILL to all that there is
//
// With --linger, what COMMAND has left behind lives on until it ends by itself, `k`, or the end of
// the socket: a shell that has started a server in the background, for example.
//
// Where the socket's other end goes, the agent gets SIGTERM and, --grace later (2,000 ms unless it
// says), SIGKILL with all that there is. Signals that end other programs are ignored here: whoever
// wants the agent to end says so over the socket, or kills the agent. Where the keeper is killed
// itself, the agent is, too, and its descendants go to the next reaper above, which the runner is.
//
// Ends with 64 where it was called wrongly, 71 where the system denies what it needs.
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
constexpr int kWrongUse = 64;
constexpr int kDenied = 71;
constexpr long kNever = -1;
constexpr long kMaxGrace = 600'000;
// Of the only thread.
constexpr char kChildren[] = "/proc/thread-self/children";

int Fail(int code, const char* what) {
  if (code == kDenied) {
    dprintf(STDERR_FILENO, "callslip-keeper: %s: %s\n", what, strerror(errno));
  } else {
    dprintf(STDERR_FILENO, "callslip-keeper: %s\n", what);
  }
  return code;
}

// The runner may be gone, which is noticed where it is read from.
void Tell(const char* word, int number) { dprintf(kRunner, "%s %d\n", word, number); }

long NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Signals that are not the keeper's business, and that the agent gets as the keeper did.
constexpr int kIgnored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

// In the child: becomes the command once `go` ends, or writes errno to `failed`.
[[noreturn]] void Become(char** command, const sigset_t& mask, pid_t keeper, int go, int failed) {
  setsid();
  // Of the keeper, which has one thread: this is told of a thread's end.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(kDenied);
  char nothing;
  while (read(go, &nothing, 1) < 0 && errno == EINTR) {
  }
  for (const int number : kIgnored) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvp(command[0], command);
  const int error = errno;
  (void)!write(failed, &error, sizeof(error));
  _exit(kDenied);
}

// So that the ends which the runner sees are the agent's own.
void LetGoOfStdio() {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stdio = STDIN_FILENO; stdio <= STDERR_FILENO; ++stdio) {
    if (nothing < 0 || dup2(nothing, stdio) < 0) close(stdio);
  }
}

// The agent's pid, or 0 with errno. It has been executed when this returns, and not before stdio is
// its own.
pid_t Start(char** command, const sigset_t& mask) {
  int failed[2], go[2];
  if (pipe2(failed, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) return 0;
  const pid_t keeper = getpid();
  const pid_t agent = fork();
  if (agent == 0) {
    close(go[1]);
    Become(command, mask, keeper, go[0], failed[1]);
  }
  int error = agent < 0 ? errno : 0;
  LetGoOfStdio();
  close(go[0]);
  close(go[1]);
  close(failed[1]);
  if (agent > 0 && read(failed[0], &error, sizeof(error)) > 0) waitpid(agent, nullptr, 0);
  close(failed[0]);
  errno = error;
  return error == 0 ? agent : 0;
}

class Keeper {
 public:
  Keeper(pid_t agent, int signals, long grace, bool lingers)
      : agent_(agent), signals_(signals), grace_(grace), lingers_(lingers) {}

  // Until the agent has ended, with all that it left behind where that lingers; or until they are
  // to end at once.
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

  // Kills until there is no child any more: each that ends leaves its own to the keeper. Returns
  // how many it has killed.
  int Sweep() {
    int all = 0;
    for (;;) {
      const int killed = KillChildren();
      all += killed;
      // Those that end while they are listed may hide others, which are found by the next look.
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
    // Once it has ended, its number may be another's.
    if ((got <= 0 || order == 't') && agent_lives_) kill(-agent_, SIGTERM);
    if (got > 0 && order == 'k') kill_at_ = NowMs();
  }

  // What waitpid() returns.
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

  // The number of those that had not ended.
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
  const bool lingers = at < count && strcmp(words[at], "--linger") == 0;
  if (lingers) ++at;
  if (at + 1 >= count || strcmp(words[at], "--") != 0) {
    return Fail(kWrongUse,
                "usage: callslip-keeper [--grace MS] [--linger] -- COMMAND [ARGUMENT]...");
  }
  char** command = words + at + 1;
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

  const pid_t agent = Start(command, before);
  if (agent == 0) {
    Tell("failed", errno);
    return 0;
  }
  Tell("started", agent);
  Keeper keeper(agent, signals, grace, lingers);
  keeper.Watch();
  Tell("swept", keeper.Sweep());
  return 0;
}
