#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boost/asio/awaitable.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "rpc_client/promise.h"
#include "runner/session/recorder.h"
#include "runner/session/session_agent.h"
#include "runner/session/session_host.h"
#include "runner/session/session_name.h"
#include "runner/session/session_plan.h"
#include "runner/session/shell_commands.h"
#include "runner/session/tool_calls.h"
#include "runner/session/turn_spans.h"

namespace callslip::runner {

// The turns of a session, one at a time: receives its messages from the tracker, prompts its agent,
// records the output, runs the commands in its answers, and reports how each turn ended.
//
// A turn begins when the tracker has recorded its prompt. A prompt is written once, and again only
// if the agent cannot have read it. Use on the runner's thread; its coroutines keep it alive.
class SessionTurns : public std::enable_shared_from_this<SessionTurns> {
 public:
  // The agents of the session, one after the other.
  class Agents {
   public:
    virtual ~Agents() = default;
    // The agent that accepts prompts now; null if none.
    virtual std::shared_ptr<SessionAgent> Running() = 0;
    // Ensures that there will be one, or returns why there will be none.
    virtual std::optional<AgentError> AskForOne() = 0;
    // The running agent is about to be prompted for the first time.
    virtual void OnAsked() = 0;
    // The agent completed a turn.
    virtual void OnAnswered() = 0;
    // A turn has begun, or the last one has ended.
    virtual void OnTurn() = 0;
    // No further message will arrive: the session has ended, or another receiver gets them.
    virtual void OnNoMessages() = 0;
    // The newest usage that the agent reported; null if none.
    virtual Json Usage() const = 0;
  };

  // All pointers must outlive this; `agents` as long as it is not idle or receives messages.
  SessionTurns(SessionHost* host, Agents* agents, const SessionPlan* plan, SessionName session,
               std::shared_ptr<Recorder> recorder, std::shared_ptr<TurnSpans> spans);

  // Receives messages until EndReceiving(). Idempotent.
  void BeginReceiving();
  // Stops receiving once the current turn has ended. For the tracker, a turn without a receiver of
  // messages needs an agent again.
  void EndReceiving();
  // Fails a turn that another process began and lost. Works without an agent, because it may be
  // impossible to start one.
  void FailLost(const std::string& turn_id);
  // The session has another runner: ends everything and reports nothing more.
  void Release();

  // Call when another agent runs or is requested, or when none is any more.
  void AgentsChanged();
  // Stops the commands of an answer, those that run and those that follow.
  void StopCommands(std::string why);

  // Records the agent's output, in a turn or outside of one.
  void Record(AgentUpdate update);
  // Adds what the agent has sent about the tool call in this turn.
  void Complete(PermissionQuestion& question) const;

  bool has_turn() const { return turn_.has_value(); }
  // No turn, and no end of a turn left to report.
  bool is_idle() const { return !turn_.has_value() && !is_failing_; }

 private:
  // A turn under way.
  struct Turn {
    std::string id;
    v1::QueuedMessage message;
    int64_t iteration = 0;         // Of the agent's answer.
    bool is_begun = false;         // The tracker knows that the turn has begun.
    bool is_stopped = false;       // A user has stopped the turn.
    bool has_told_images = false;  // The omitted images were reported.
  };

  // Runs until `signal` is not receiving_ any more.
  boost::asio::awaitable<void> Receive(std::shared_ptr<boost::asio::cancellation_signal> signal);
  void TakeMessage(const v1::ReceivedMessage& received);
  void StopReceiving();
  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<void> Fail(std::string turn_id);
  boost::asio::awaitable<bool> StartTurn();
  boost::asio::awaitable<AgentSession::TurnEnd> PromptAgent();
  // Waits until an agent runs; or returns how the turn ended without one.
  boost::asio::awaitable<std::optional<AgentSession::TurnEnd>> AwaitAgent();
  // Waits until something that a prompt depends on changes.
  boost::asio::awaitable<void> NextChange();
  boost::asio::awaitable<Json> PromptBlocks(const acp::Capabilities& capabilities);
  // Runs the commands of the agent's answer. Returns their results for the agent; empty if there
  // were none. Can change how the turn ended.
  boost::asio::awaitable<std::string> RunCommands(AgentSession::TurnEnd& end);
  // Returns true if the queue continues by itself.
  boost::asio::awaitable<bool> FinishTurn(AgentSession::TurnEnd end);
  // Begins a turn with the results of the commands as its prompt.
  boost::asio::awaitable<void> PromptWith(std::string results);

  template <typename Request>
  Request For() const {
    return RequestAbout<Request>(name_);
  }
  // Repeats the call until it is answered, or the session has another runner.
  template <typename Request>
  auto Retry(Request request, CallOptions options = {});

  SessionHost* const host_;
  Agents* const agents_;
  const SessionPlan* const plan_;
  const SessionName name_;
  const std::shared_ptr<Recorder> recorder_;
  const std::shared_ptr<TurnSpans> spans_;

  std::shared_ptr<boost::asio::cancellation_signal> receiving_;  // Set while messages are received.
  bool is_to_receive_ = false;                                   // Also after the current turn.
  std::optional<Turn> turn_;
  // A turn that arrived before the tracker's answer to the end of the previous one.
  std::optional<Turn> next_turn_;
  std::shared_ptr<SessionAgent> prompted_;  // Set during its prompt.
  bool is_failing_ = false;                 // Set while a turn of another process is being failed.
  std::vector<Promise<bool>> changes_;      // Of waiting NextChange() calls.
  std::optional<ToolCalls> tool_calls_;     // Of the current prompt.
  std::optional<ShellCommands> commands_;   // Of the answer to it.
  std::string results_;                     // Results of commands not yet sent to the agent.
  int rounds_ = 0;                          // Consecutive prompts with results.
  bool is_released_ = false;
};

}  // namespace callslip::runner
