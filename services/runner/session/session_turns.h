#ifndef CALLSLIP_RUNNER_SESSION_SESSION_TURNS_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_TURNS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boost/asio/awaitable.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "runner/later.h"
#include "runner/session/recorder.h"
#include "runner/session/session_agent.h"
#include "runner/session/session_host.h"
#include "runner/session/session_name.h"
#include "runner/session/session_plan.h"
#include "runner/session/shell_commands.h"
#include "runner/session/tool_calls.h"
#include "runner/session/turn_spans.h"

namespace callslip::runner {

// The turns of a session, one at a time: takes its messages from the tracker, asks its agent,
// records what that says, runs the commands of its answers, and tells how each turn has ended.
//
// A turn begins when the tracker has recorded its prompt, and a prompt is written once: again only
// where it can't have been read. Lives on the runner's one thread; its coroutines hold it.
class SessionTurns : public std::enable_shared_from_this<SessionTurns> {
 public:
  // The agents of the session, one after the other.
  class Agents {
   public:
    virtual ~Agents() = default;
    // The one that takes prompts now, or null.
    virtual std::shared_ptr<SessionAgent> Running() = 0;
    // Sees to it that there will be one, or says why there will be none.
    virtual std::optional<AgentError> AskForOne() = 0;
    // The running one is asked for the first time.
    virtual void OnAsked() = 0;
    // It has ended a turn as it should.
    virtual void OnAnswered() = 0;
    // A turn has begun, or there is none any more.
    virtual void OnTurn() = 0;
    // There will be no message any more: the session has ended, or others receive them.
    virtual void OnNoMessages() = 0;
    // The newest it has said of what it has used; null where nothing.
    virtual Json Usage() const = 0;
  };

  // All that is pointed to must outlive it; `agents` while it is not idle, or receives messages.
  SessionTurns(SessionHost* host, Agents* agents, const SessionPlan* plan, SessionName session,
               std::shared_ptr<Recorder> recorder, TurnSpans spans);

  // Until EndReceiving(). Harmless where it does already.
  void BeginReceiving();
  // Once the turn that is under way has ended. For the tracker, a turn that nobody receives
  // messages in needs an agent again.
  void EndReceiving();
  // Fails the turn that another process has begun, and that is lost with it. Without an agent:
  // there may be none that can be started.
  void FailLost(const std::string& turn_id);
  // The session is not this runner's any more: all ends, and nothing is told.
  void Release();

  // Another agent runs or is to, or none is any more.
  void AgentsChanged();
  // The commands of an answer that run or are to.
  void StopCommands(std::string why);

  // What the agent says, in a turn or beside it.
  void Record(AgentUpdate update);
  // Adds what the agent has said of the tool call in this turn.
  void Complete(PermissionQuestion& question) const;

  bool has_turn() const { return turn_.has_value(); }
  // Nothing of a turn is to be told either.
  bool is_idle() const { return !turn_.has_value() && !is_failing_; }
  const TurnSpans& spans() const { return spans_; }

 private:
  // One that has begun.
  struct Turn {
    std::string id;
    v1::QueuedMessage message;
    int64_t iteration = 0;         // Of the agent's answer to it.
    bool is_begun = false;         // The tracker knows that it has.
    bool is_stopped = false;       // Somebody wants it to end.
    bool has_told_images = false;  // Those that were left out.
  };

  // Until `signal` is not receiving_ any more.
  boost::asio::awaitable<void> Receive(std::shared_ptr<boost::asio::cancellation_signal> signal);
  void TakeMessage(const v1::ReceivedMessage& received);
  void StopReceiving();
  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<void> Fail(std::string turn_id);
  boost::asio::awaitable<bool> StartTurn();
  boost::asio::awaitable<AgentSession::TurnEnd> PromptAgent();
  // Until one runs; or how the turn has ended without.
  boost::asio::awaitable<std::optional<AgentSession::TurnEnd>> AwaitAgent();
  // Until what a prompt depends on is different.
  boost::asio::awaitable<void> NextChange();
  boost::asio::awaitable<Json> PromptBlocks(const acp::Capabilities& capabilities);
  // What became of the commands of the agent's answer, for itself; empty where there were none. May
  // change how the turn has ended.
  boost::asio::awaitable<std::string> RunCommands(AgentSession::TurnEnd& end);
  // True where its queue goes on by itself.
  boost::asio::awaitable<bool> FinishTurn(AgentSession::TurnEnd end);
  // Begins a turn of its own with what became of the commands in its answer.
  boost::asio::awaitable<void> PromptWith(std::string results);

  template <typename Request>
  Request For() const {
    return RequestAbout<Request>(name_);
  }
  // Repeats the call until it is answered, or the session is not ours any more.
  template <typename Request>
  auto Persistently(Request request, CallOptions options = {});
  template <typename Coroutine>
  void Spawn(Coroutine coroutine);

  SessionHost* const host_;
  Agents* const agents_;
  const SessionPlan* const plan_;
  const SessionName name_;
  const std::shared_ptr<Recorder> recorder_;
  TurnSpans spans_;

  std::shared_ptr<boost::asio::cancellation_signal> receiving_;  // While messages are received.
  bool is_to_receive_ = false;  // After the turn that is under way, too.
  std::optional<Turn> turn_;
  // What came before the tracker's answer to the end of the turn before it.
  std::optional<Turn> next_turn_;
  std::shared_ptr<SessionAgent> prompted_;  // While its prompt is under way.
  bool is_failing_ = false;                 // A turn that another process has begun.
  std::vector<Later<bool>> changes_;        // That are waited for.
  std::optional<ToolCalls> tool_calls_;     // Of the prompt that is under way.
  std::optional<ShellCommands> commands_;   // Of the answer to it.
  std::string results_;  // What became of commands, that the agent was not told yet.
  int rounds_ = 0;       // Prompts with results in a row.
  bool is_released_ = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SESSION_TURNS_H_
