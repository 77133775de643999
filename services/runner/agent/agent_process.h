#ifndef CALLSLIP_RUNNER_AGENT_AGENT_PROCESS_H_
#define CALLSLIP_RUNNER_AGENT_AGENT_PROCESS_H_

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

namespace callslip::runner {

struct AgentCommand {
  std::vector<std::string> arguments;    // The first is looked up in PATH of `environment`.
  std::vector<std::string> environment;  // "NAME=value". Nothing else is inherited.
  std::string directory;                 // Where it begins.
  // What it leaves behind lives on until Kill().
  bool lingers = false;
};

// How an agent has ended.
struct AgentExit {
  enum class Kind {
    kNotStarted,  // `code` is errno.
    kExited,      // `code` is what it returned.
    kSignalled,   // `code` is the signal.
    kLost,        // Its keeper was killed, and it with that, and all that came of it.
  };
  Kind kind = Kind::kLost;
  int code = 0;
  std::string last_words;  // The end of its stderr, up to kLastWords bytes.
};

// How long an agent that is to end may take, once its stdin is closed and once it has had SIGTERM.
// Of real agents the slowest takes 7 s to end by the end of its stdin (codex-acp 2.6).
struct StopPatience {
  absl::Duration end_of_input = absl::Seconds(10);
  absl::Duration terminate = absl::Seconds(2);
  // For its keeper to kill it with all that came of it: an agent may have stopped that (SIGSTOP).
  // The keeper is killed then, and what it leaves is this process's to kill.
  absl::Duration keeper = absl::Seconds(5);
};

// One agent and its keeper (services/keeper): bytes in, bytes out, and an end behind which nothing
// of it is left. Lives on one thread, that of its io_context.
class AgentProcess : public std::enable_shared_from_this<AgentProcess> {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // From its stdout, as it comes.
    virtual void OnOutput(absl::string_view bytes) = 0;
    // The command itself has ended, and what it left behind may live on. Told only where that
    // lingers, once, after what the command has put out, and never after OnEnd().
    virtual void OnExit(const AgentExit& /*exit*/) {}
    // It has closed its `stdout`, or its `stdin`, which is known once something is written to it;
    // and nobody has asked it to end. Each is told once at most.
    virtual void OnPipeEnd(absl::string_view /*which*/) {}
    // Once, after all output: nothing is left.
    virtual void OnEnd(const AgentExit& exit) = 0;
  };

  static constexpr size_t kLastWords = 64 << 10;

  // `keeper` is the path of callslip-keeper. `listener` must live until OnEnd(). Whether the
  // command can be executed is told by that, too. An error where the system has no room for a
  // process.
  static absl::StatusOr<std::shared_ptr<AgentProcess>> Start(boost::asio::io_context& context,
                                                             const std::string& keeper,
                                                             const AgentCommand& command,
                                                             Listener* listener,
                                                             StopPatience patience = {});
  ~AgentProcess();

  // To its stdin, in order. `done` is told whether all of it was written: where it was not, the
  // agent can't have read a line that this ends with.
  void Write(std::string bytes, std::function<void(bool whole)> done = nullptr);

  // Closes its stdin. What is not written by now never is.
  void CloseInput();
  // Closes its stdin; asks it to end with SIGTERM, and kills it with all that came of it, as
  // `patience` has it. Harmless when repeated.
  void Stop();
  // The last step at once.
  void Kill();

  size_t unwritten_bytes() const { return unwritten_; }

  // Whether its stdout is left unread: once the pipe is full, the agent waits.
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
  // What the keeper says, where the command's own end is to be told.
  void ReadControl();
  // False at the end.
  bool ReadSome(Stream& from, Take take);
  void Drain(Stream& from, Take take);
  void TakeOutput(absl::string_view bytes) { listener_->OnOutput(bytes); }
  void TakeWords(absl::string_view bytes);
  void WriteNext();
  void EndFirst(bool whole);
  // Unless it was asked to end.
  void TellPipeEnd(absl::string_view which);
  void FailWrites();
  void Order(char what);
  void After(absl::Duration wait, void (AgentProcess::*step)());
  void Terminate();
  void KillKeeper();
  void AwaitEnd(void (AgentProcess::*step)());
  void OnKeeperEnd();
  // Of a keeper that was killed before it could do so itself.
  void EndStrays();
  void Finish();
  // Reads all that the keeper has said. False where it did not say that nothing is left.
  bool ReadExit();
  // Takes what it has said so far. False where it says no more.
  bool ReadSaid();

  Listener* listener_;
  const StopPatience patience_;
  Stream in_;
  Stream out_;
  Stream err_;
  Stream end_;  // A pidfd: of the keeper, then of what it has left, until nothing is.
  boost::asio::local::stream_protocol::socket control_;
  boost::asio::steady_timer timer_;
  pid_t keeper_ = -1;
  bool stopping_ = false;
  bool killing_ = false;
  bool is_held_ = false;
  bool reads_output_ = false;
  bool out_ended_ = false;
  std::deque<Outgoing> outgoing_;
  bool writing_ = false;  // The first of them.
  size_t written_ = 0;    // Of the first.
  size_t unwritten_ = 0;
  std::string last_words_;
  std::string said_;  // By the keeper.
  AgentExit exit_;
  std::vector<char> buffer_;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_AGENT_AGENT_PROCESS_H_
