#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/local/stream_protocol.hpp"
#include "boost/asio/posix/stream_descriptor.hpp"
#include "boost/asio/steady_timer.hpp"
#include "common/file.h"

namespace callslip::runner {

struct AgentCommand {
  std::vector<std::string> arguments;    // The first is looked up in PATH of `environment`.
  std::vector<std::string> environment;  // "NAME=value". Nothing else is inherited.
  // The initial working directory: an open folder, or where there is none, a path.
  std::shared_ptr<const File> folder;
  std::string directory;
  // Processes that the command leaves behind live until Kill().
  bool lingers = false;
};

// How an agent ended.
struct AgentExit {
  enum class Kind {
    kNotStarted,   // `code` is errno.
    kNoDirectory,  // Not started, because its directory cannot be entered; `code` is errno.
    kExited,       // `code` is the exit code.
    kSignalled,    // `code` is the signal.
    kLost,         // The keeper was killed, and with it the agent and all its descendants.
  };
  Kind kind = Kind::kLost;
  int code = 0;
  std::string last_words;  // The end of its stderr, at most kLastWords bytes.
};

// How long an agent can take to exit after its stdin is closed, and after SIGTERM. The slowest real
// agent takes 7 s after the end of its stdin (codex-acp 2.6).
struct StopPatience {
  absl::Duration end_of_input = absl::Seconds(10);
  absl::Duration terminate = absl::Seconds(2);
  // For the keeper to kill the agent and all its descendants: the agent may have stopped the keeper
  // (SIGSTOP). After that the keeper is killed, and this process kills what is left.
  absl::Duration keeper = absl::Seconds(5);
};

// An agent and its keeper (services/keeper): input, output, and an end after which no descendant is
// left. Not thread-safe: use on one thread, that of its io_context.
class AgentProcess : public std::enable_shared_from_this<AgentProcess> {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // Output on stdout, as it arrives.
    virtual void OnOutput(absl::string_view bytes) = 0;
    // The command itself has ended; processes that it left behind may live on. Called only if the
    // command `lingers`, once, after the command's output, and never after OnEnd().
    virtual void OnExit(const AgentExit& /*exit*/) {}
    // The agent closed its `stdout` or `stdin` without having been asked to end. A closed `stdin`
    // is detected at the next write. Called at most once for each.
    virtual void OnPipeEnd(absl::string_view /*which*/) {}
    // Called once, after all output: no process is left.
    virtual void OnEnd(const AgentExit& exit) = 0;
  };

  static constexpr size_t kLastWords = 64 << 10;

  // `keeper` is the path of callslip-keeper. `listener` must live until OnEnd(), which also reports
  // a command that cannot be executed. Returns an error if the directory is unusable or the system
  // lacks the resources for a process.
  static absl::StatusOr<std::shared_ptr<AgentProcess>> Start(boost::asio::io_context& context,
                                                             const std::string& keeper,
                                                             const AgentCommand& command,
                                                             Listener* listener,
                                                             StopPatience patience = {});
  ~AgentProcess();

  // Writes to stdin, in order. `done` receives whether all bytes were written: if not, the agent
  // cannot have read a line that these bytes complete.
  void Write(std::string bytes, std::function<void(bool whole)> done = nullptr);

  // Closes stdin. Drops pending writes.
  void CloseInput();
  // Closes stdin, then sends SIGTERM, then kills the agent and all its descendants, with the
  // timeouts in `patience`. Idempotent.
  void Stop();
  // Takes the last step of Stop() immediately.
  void Kill();

  size_t unwritten_bytes() const { return unwritten_; }

  // Pauses or resumes reading of stdout; the agent blocks once the pipe is full.
  void HoldOutput(bool hold);

 private:
  using Stream = boost::asio::posix::stream_descriptor;
  using Take = void (AgentProcess::*)(absl::string_view);

  struct Outgoing {
    std::string bytes;
    std::function<void(bool)> done;
  };

  AgentProcess(boost::asio::io_context& context, Listener* listener, StopPatience patience);

  absl::Status Spawn(const std::string& keeper, const AgentCommand& command);
  void Begin();
  void ReadOutput();
  void ReadWords();
  // Reads the keeper's reports, if the command's own end must be reported.
  void ReadControl();
  // Returns false at the end of the stream.
  bool ReadSome(Stream& from, Take take);
  void Drain(Stream& from, Take take);
  void TakeOutput(absl::string_view bytes) { listener_->OnOutput(bytes); }
  void TakeWords(absl::string_view bytes);
  void WriteNext();
  void EndFirst(bool whole);
  // Calls OnPipeEnd() unless the agent was asked to end.
  void TellPipeEnd(absl::string_view which);
  void FailWrites();
  void Order(char what);
  void After(absl::Duration wait, void (AgentProcess::*step)());
  void Terminate();
  void KillKeeper();
  void AwaitEnd(void (AgentProcess::*step)());
  void OnKeeperEnd();
  // Kills what is left by a keeper that was killed before it could do so itself.
  void EndStrays();
  void Finish();
  // Reads all of the keeper's reports. Returns false unless the keeper reported that nothing is
  // left.
  bool ReadExit();
  // Parses the keeper's reports so far. Returns false at the end of the stream.
  bool ReadSaid();

  Listener* listener_;
  const StopPatience patience_;
  Stream in_;
  Stream out_;
  Stream err_;
  Stream end_;  // A pidfd: of the keeper, then of each process that is left.
  boost::asio::local::stream_protocol::socket control_;
  boost::asio::steady_timer timer_;
  pid_t keeper_ = -1;
  bool stopping_ = false;
  bool killing_ = false;
  bool is_held_ = false;
  bool reads_output_ = false;
  bool out_ended_ = false;
  std::deque<Outgoing> outgoing_;
  bool writing_ = false;  // The first entry is being written.
  size_t written_ = 0;    // Bytes of the first entry.
  size_t unwritten_ = 0;
  std::string last_words_;
  std::string said_;  // The keeper's reports.
  AgentExit exit_;
  std::vector<char> buffer_;
};

}  // namespace callslip::runner
