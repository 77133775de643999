#include "runner/agent/agent_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "boost/asio/buffer.hpp"
#include "boost/asio/error.hpp"
#include "boost/asio/post.hpp"
#include "common/status_macros.h"
#include "runner/agent/children.h"

namespace callslip::runner {
namespace {

using boost::system::error_code;

constexpr size_t kReadBytes = 64 << 10;
// The keeper's control descriptor; see its main.cc.
constexpr int kControl = 3;
constexpr int kFolder = 4;

// The two ends of a pipe or socket; closes those that were not released.
struct Ends {
  std::array<int, 2> ends = {-1, -1};

  ~Ends() {
    for (const int end : ends) {
      if (end >= 0) close(end);
    }
  }
  int Release(int which) { return std::exchange(ends[static_cast<size_t>(which)], -1); }
  int operator[](int which) const { return ends[static_cast<size_t>(which)]; }
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns a descriptor that becomes readable when the process ends; -1 with errno set on failure.
int EndOf(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

// The number of bytes that can be read immediately.
size_t Readable(int descriptor) {
  int bytes = 0;
  return ioctl(descriptor, FIONREAD, &bytes) == 0 ? static_cast<size_t>(bytes) : 0;
}

}  // namespace

absl::StatusOr<std::shared_ptr<AgentProcess>> AgentProcess::Start(boost::asio::io_context& context,
                                                                  const std::string& keeper,
                                                                  const AgentCommand& command,
                                                                  Listener* listener,
                                                                  StopPatience patience) {
  std::shared_ptr<AgentProcess> process(new AgentProcess(context, listener, patience));
  RETURN_IF_ERROR(process->Spawn(keeper, command));
  process->Begin();
  if (command.lingers) process->ReadControl();
  return process;
}

AgentProcess::AgentProcess(boost::asio::io_context& context, Listener* listener,
                           StopPatience patience)
    : listener_(listener),
      patience_(patience),
      in_(context),
      out_(context),
      err_(context),
      end_(context),
      control_(context),
      timer_(context),
      buffer_(kReadBytes) {}

AgentProcess::~AgentProcess() = default;

absl::Status AgentProcess::Spawn(const std::string& keeper, const AgentCommand& command) {
  Ends in, out, err, control;
  if (pipe2(in.ends.data(), O_CLOEXEC) != 0 || pipe2(out.ends.data(), O_CLOEXEC) != 0 ||
      pipe2(err.ends.data(), O_CLOEXEC) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control.ends.data()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make the pipes of an agent");
  }
  const bool has_folder = command.folder != nullptr;
  // A number that none of the copies below overwrites.
  const File folder(has_folder ? fcntl(command.folder->descriptor(), F_DUPFD_CLOEXEC, kFolder + 1)
                               : -1);
  if (has_folder && !folder.is_open()) {
    return absl::ErrnoToStatus(errno, "cannot hand a folder on");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const absl::Cleanup done = [&actions] { posix_spawn_file_actions_destroy(&actions); };
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, control[1], kControl);
  if (has_folder) posix_spawn_file_actions_adddup2(&actions, folder.descriptor(), kFolder);
  posix_spawn_file_actions_addclosefrom_np(&actions, has_folder ? kFolder + 1 : kFolder);
  std::vector<std::string> arguments = {
      keeper, "--grace", absl::StrCat(absl::ToInt64Milliseconds(patience_.terminate)), "--in",
      has_folder ? absl::StrCat("/proc/self/fd/", kFolder) : command.directory};
  if (command.lingers) arguments.emplace_back("--linger");
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = command.environment;
  Children& children = Children::OfThisProcess();
  if (const int error = children.Spawn(&keeper_, keeper.c_str(), &actions,
                                       Pointers(arguments).data(), Pointers(environment).data());
      error != 0) {
    return absl::ErrnoToStatus(error, absl::StrCat("cannot start ", keeper));
  }
  const int keeper_end = EndOf(keeper_);
  if (keeper_end < 0) {
    const int error = errno;
    // Its agent goes with the keeper.
    kill(keeper_, SIGKILL);
    children.Wait(keeper_);
    return absl::ErrnoToStatus(error, "cannot watch a process");
  }
  end_.assign(keeper_end);
  in_.assign(in.Release(1));
  out_.assign(out.Release(0));
  err_.assign(err.Release(0));
  control_.assign(boost::asio::local::stream_protocol(), control.Release(0));
  out_.non_blocking(true);
  err_.non_blocking(true);
  control_.non_blocking(true);
  return absl::OkStatus();
}

void AgentProcess::Begin() {
  ReadOutput();
  ReadWords();
  AwaitEnd(&AgentProcess::OnKeeperEnd);
}

// Both wait for readability and then read synchronously, so that no read is in flight when the rest
// is drained.

void AgentProcess::ReadOutput() {
  if (is_held_ || out_ended_ || !out_.is_open() || std::exchange(reads_output_, true)) return;
  out_.async_wait(Stream::wait_read, [self = shared_from_this()](error_code error) {
    self->reads_output_ = false;
    // Reading may have been paused meanwhile.
    if (error || self->is_held_) return;
    if (self->ReadSome(self->out_, &AgentProcess::TakeOutput)) return self->ReadOutput();
    self->out_ended_ = true;
    if (self->out_.is_open()) self->TellPipeEnd("stdout");
  });
}

void AgentProcess::ReadWords() {
  err_.async_wait(Stream::wait_read, [self = shared_from_this()](error_code error) {
    if (!error && self->ReadSome(self->err_, &AgentProcess::TakeWords)) self->ReadWords();
  });
}

void AgentProcess::ReadControl() {
  control_.async_wait(
      boost::asio::socket_base::wait_read, [self = shared_from_this()](error_code error) {
        if (error || !self->control_.is_open()) return;
        const bool says_more = self->ReadSaid();
        if (self->exit_.kind == AgentExit::Kind::kLost) {
          if (says_more) self->ReadControl();
          return;
        }
        // All output of the command is in the pipe. Reads only that much, because processes that
        // the command left behind may continue to write.
        size_t left = self->out_.is_open() ? Readable(self->out_.native_handle()) : 0;
        while (left > 0 && self->out_.is_open()) {
          self->ReadSome(self->out_, &AgentProcess::TakeOutput);
          left -= std::min(left, kReadBytes);
        }
        self->listener_->OnExit(self->exit_);
      });
}

void AgentProcess::HoldOutput(bool hold) {
  is_held_ = hold;
  ReadOutput();
}

bool AgentProcess::ReadSome(Stream& from, Take take) {
  error_code error;
  const size_t bytes = from.read_some(boost::asio::buffer(buffer_), error);
  if (error) return error == boost::asio::error::would_block;
  (this->*take)({buffer_.data(), bytes});
  return from.is_open();
}

void AgentProcess::Drain(Stream& from, Take take) {
  error_code error;
  while (!error && from.is_open()) {
    const size_t bytes = from.read_some(boost::asio::buffer(buffer_), error);
    if (bytes > 0) (this->*take)({buffer_.data(), bytes});
  }
  from.close(error);
}

void AgentProcess::TakeWords(absl::string_view bytes) {
  last_words_.append(bytes.data(), bytes.size());
  if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
}

void AgentProcess::Write(std::string bytes, std::function<void(bool)> done) {
  unwritten_ += bytes.size();
  outgoing_.push_back({std::move(bytes), std::move(done)});
  if (!in_.is_open()) return FailWrites();
  if (!writing_) WriteNext();
}

void AgentProcess::WriteNext() {
  if (outgoing_.empty()) return;
  writing_ = true;
  const std::string& bytes = outgoing_.front().bytes;
  in_.async_write_some(boost::asio::buffer(bytes.data() + written_, bytes.size() - written_),
                       [self = shared_from_this()](error_code error, size_t written) {
                         self->writing_ = false;
                         self->written_ += written;
                         self->unwritten_ -= written;
                         if (self->written_ == self->outgoing_.front().bytes.size())
                           self->EndFirst(true);
                         if (error) {
                           const bool was_open = self->in_.is_open();
                           self->CloseInput();
                           if (was_open) self->TellPipeEnd("stdin");
                           return;
                         }
                         if (!self->in_.is_open()) return self->FailWrites();
                         self->WriteNext();
                       });
}

void AgentProcess::EndFirst(bool whole) {
  const Outgoing first = std::move(outgoing_.front());
  outgoing_.pop_front();
  unwritten_ -= first.bytes.size() - std::exchange(written_, 0);
  if (first.done != nullptr) first.done(whole);
}

void AgentProcess::TellPipeEnd(absl::string_view which) {
  if (!stopping_) listener_->OnPipeEnd(which);
}

void AgentProcess::FailWrites() {
  // The outcome of a write in progress is known only when it completes.
  while (!writing_ && !outgoing_.empty()) EndFirst(false);
}

void AgentProcess::CloseInput() {
  error_code ignored;
  in_.close(ignored);
  FailWrites();
}

void AgentProcess::Stop() {
  if (std::exchange(stopping_, true)) return;
  CloseInput();
  After(patience_.end_of_input, &AgentProcess::Terminate);
}

void AgentProcess::Terminate() {
  if (killing_) return;
  Order('t');
  After(patience_.terminate, &AgentProcess::Kill);
}

void AgentProcess::Kill() {
  stopping_ = true;
  if (std::exchange(killing_, true)) return;
  Order('k');
  After(patience_.keeper, &AgentProcess::KillKeeper);
}

void AgentProcess::KillKeeper() {
  syscall(SYS_pidfd_send_signal, end_.native_handle(), SIGKILL, nullptr, 0);
}

void AgentProcess::Order(char what) {
  error_code ignored;
  if (control_.is_open()) control_.write_some(boost::asio::buffer(&what, 1), ignored);
}

void AgentProcess::After(absl::Duration wait, void (AgentProcess::*step)()) {
  timer_.expires_after(absl::ToChronoNanoseconds(wait));
  timer_.async_wait([self = shared_from_this(), step](error_code error) {
    if (!error && self->end_.is_open()) (self.get()->*step)();
  });
}

void AgentProcess::AwaitEnd(void (AgentProcess::*step)()) {
  end_.async_wait(Stream::wait_read, [self = shared_from_this(), step](error_code error) {
    if (!error) (self.get()->*step)();
  });
}

void AgentProcess::OnKeeperEnd() {
  Children::OfThisProcess().Wait(keeper_);
  CloseInput();
  if (ReadExit()) return Finish();
  EndStrays();
}

void AgentProcess::EndStrays() {
  error_code ignored;
  end_.close(ignored);
  const pid_t left = Children::OfThisProcess().KillStrays();
  if (left == 0) return Finish();
  const int left_end = EndOf(left);
  if (left_end < 0) {
    // No descriptor available. The process was killed, so this blocks only briefly.
    siginfo_t ended;
    waitid(P_PID, static_cast<id_t>(left), &ended, WEXITED | WNOWAIT);
    return EndStrays();
  }
  end_.assign(left_end);
  AwaitEnd(&AgentProcess::EndStrays);
}

void AgentProcess::Finish() {
  error_code ignored;
  end_.close(ignored);
  timer_.cancel();
  // All writers have ended, so this is all the remaining output.
  Drain(out_, &AgentProcess::TakeOutput);
  Drain(err_, &AgentProcess::TakeWords);
  exit_.last_words = std::move(last_words_);
  control_.close(ignored);
  // After the completion of a write in progress.
  boost::asio::post(timer_.get_executor(),
                    [self = shared_from_this()] { self->listener_->OnEnd(self->exit_); });
}

bool AgentProcess::ReadSaid() {
  std::array<char, 256> buffer;
  error_code error;
  while (!error) {
    const size_t bytes = control_.read_some(boost::asio::buffer(buffer), error);
    said_.append(buffer.data(), bytes);
  }
  std::vector<absl::string_view> lines = absl::StrSplit(said_, '\n');
  lines.pop_back();  // Incomplete.
  for (const absl::string_view line : lines) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, ' ');
    const auto is = [&](absl::string_view word) {
      return parts.first == word && absl::SimpleAtoi(parts.second, &exit_.code);
    };
    if (is("failed")) exit_.kind = AgentExit::Kind::kNotStarted;
    if (is("nowhere")) exit_.kind = AgentExit::Kind::kNoDirectory;
    if (is("exited")) exit_.kind = AgentExit::Kind::kExited;
    if (is("signalled")) exit_.kind = AgentExit::Kind::kSignalled;
  }
  return error == boost::asio::error::would_block;
}

bool AgentProcess::ReadExit() {
  ReadSaid();
  for (const char* last : {"swept ", "failed ", "nowhere "}) {
    if (absl::StrContains(said_, last)) return true;
  }
  return false;
}

}  // namespace callslip::runner
