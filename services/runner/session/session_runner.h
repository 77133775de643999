#ifndef CALLSLIP_RUNNER_SESSION_SESSION_RUNNER_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_RUNNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "runner/agent/agent_restarts.h"
#include "runner/agent/running_agent.h"
#include "runner/client/disk_thread.h"
#include "runner/client/file_access.h"
#include "runner/client/terminals.h"
#include "runner/later.h"
#include "runner/session/agent_details.h"
#include "runner/session/recorder.h"
#include "runner/session/session_plan.h"
#include "runner/session/session_questions.h"
#include "runner/session/shell_commands.h"
#include "runner/session/tool_calls.h"
#include "runner/session/turn_spans.h"
#include "runner/timers.h"
#include "runner/tracker/tracker_calls.h"

namespace callslip::runner {

// What all sessions of a runner share.
struct SessionHost {
  boost::asio::any_io_executor executor;
  Timers* timers = nullptr;
  TrackerCalls* tracker = nullptr;
  std::string runner_id;
  // From 0 to 1: so that agents that ended together don't all start together.
  std::function<double()> chance;
  bool is_stopping = false;  // The runner: no agent is started any more.
};

// Who decides which sessions have an agent: see RunningAgents.
class AgentScheduler {
 public:
  virtual ~AgentScheduler() = default;
  virtual void Want(const AgentWant& want) = 0;
  virtual void Started(const std::string& session) = 0;
  virtual void Busy(const std::string& session, bool busy) = 0;
  virtual void Ended(const std::string& session) = 0;
  virtual void Drop(const std::string& session) = 0;
};

// A session of the tracker and its agent: brings the agent messages, one at a time, records what it
// says, asks people for what it asks for, and says how it is.
//
//   asleep ─Need()▶ wanted ─Begin()▶ starting ▶ running ─Stop(), its end▶ asleep
//
// A turn begins when the tracker has recorded its prompt, and a prompt is written once: again only
// where it can't have been read. Lives on one thread; its coroutines hold it.
class SessionRunner : public std::enable_shared_from_this<SessionRunner>,
                      private AgentSession::Listener {
 public:
  // `host` and `scheduler` must outlive it and its coroutines.
  SessionRunner(SessionHost* host, AgentScheduler* scheduler, SessionPlan plan,
                const v1::Assignment& assignment);

  const std::string& id() const { return name_.session_id; }
  // By which the tracker knows that it has the session still.
  int64_t lease() const { return name_.lease; }
  bool is_released() const { return released_; }
  const SessionPlan& plan() const { return plan_; }
  // Nothing of it runs, nothing is to, and nothing is to be remembered.
  bool is_asleep() const {
    return state_ == State::kAsleep && start_timer_ == nullptr && !turn_.has_value() &&
           !publishing_ && !failing_turn_ &&
           (released_ || (!fresh_ && !told_lost_ && !restarts_.Remembers(host_->timers->Now())));
  }
  bool has_turn() const { return turn_.has_value(); }

  // There is something to do for its agent.
  void Need();
  // The same, where a turn is under way that another process has begun, and that is lost with it.
  void NeedAfter(const std::string& turn_id);
  // The scheduler has made room. Opens the folders that its agent is to work in, before there is an
  // agent that could replace them; nothing where that fails, which is told then. Else how it is
  // started, and Begin() is to follow.
  using MakePlan = std::function<std::optional<SessionPlan>(const v1::Session&)>;
  std::optional<AgentSettings> Prepare(const MakePlan& plan_of);
  // Its agent is this one.
  void Begin(std::shared_ptr<RunningAgent> agent);
  // The scheduler has none yet.
  void TellWaiting();
  // The scheduler wants the room, or nobody needs the agent.
  void Stop();
  // Does what somebody wants of the agent, and answers.
  void Control(const v1::AgentControl& control);
  // The tracker may have forgotten how the agent is.
  void TellAgain();
  // The session is not this runner's any more: ends the agent and tells nobody.
  void Release();

 private:
  enum class State { kAsleep, kWanted, kStarting, kRunning, kStopping };
  // A turn that has begun.
  struct Turn {
    std::string id;
    v1::QueuedMessage message;
    int64_t iteration = 0;    // Of the agent's answer to it.
    bool is_begun = false;    // The tracker knows that it has.
    bool is_stopped = false;  // Somebody wants it to end.
  };
  // session_runner.cc: the agent's life.
  void Want();
  boost::asio::awaitable<void> Open(std::shared_ptr<RunningAgent> agent);
  // Ends an agent that is not ready by then.
  void StartWithin(absl::Duration wait);
  // These go on for the life of the agent that they begin with, and change nothing after it.
  boost::asio::awaitable<std::optional<AgentError>> OpenSession(
      std::shared_ptr<RunningAgent> running, int64_t life);
  boost::asio::awaitable<std::optional<AgentError>> RestoreChoices(int64_t life);
  boost::asio::awaitable<acp::SessionSetup> Setup(std::shared_ptr<RunningAgent> running);
  void LogNoStart(const AgentError& error) const;
  void Fail(const AgentError& error);
  void Failed(const AgentError& error, std::optional<absl::Time> next);
  boost::asio::awaitable<void> PauseQueue(AgentError error);
  void EndAgent();
  void TakeControl(const std::string& control_id, const v1::AgentControl& control);
  void AnswerControls(const AgentError& error);
  boost::asio::awaitable<void> AnswerControl(std::string control_id, AgentError error);
  void Say(v1::AgentStatus status, const AgentError& why = {});
  boost::asio::awaitable<void> Publish();
  void RecordContextLost(const AgentError& why);

  // session_turns.cc: its turns.
  void BeginReceiving();
  void EndReceiving();
  // For the tracker, a turn that nobody receives messages in needs an agent again.
  void EndReceivingBetweenTurns() {
    if (!turn_.has_value()) EndReceiving();
  }
  // Until `signal` is not receiving_ any more.
  boost::asio::awaitable<void> Receive(std::shared_ptr<boost::asio::cancellation_signal> signal);
  void TakeMessage(const v1::ReceivedMessage& received);
  boost::asio::awaitable<void> RunTurn();
  boost::asio::awaitable<void> FailLostTurn(std::string turn_id);
  boost::asio::awaitable<bool> StartTurn();
  boost::asio::awaitable<AgentSession::TurnEnd> PromptAgent();
  // Until what a prompt depends on is different: its agent, and whether that is to be stopped.
  boost::asio::awaitable<void> NextChange();
  void Changed();
  boost::asio::awaitable<Json> PromptBlocks();
  // True where its queue goes on by itself.
  boost::asio::awaitable<bool> FinishTurn(AgentSession::TurnEnd end);
  // Begins a turn of its own with what became of the commands in its answer.
  boost::asio::awaitable<void> PromptWith(std::string results);
  void StopCommands(std::string why);
  // Until what it has said is recorded.
  void HoldAgent();

  // Tells the scheduler whether the agent may be stopped for another one.
  void NoteBusy();
  void NoteIdleLater();

  void OnUpdate(AgentUpdate update) override;
  void OnPermission(PermissionQuestion question,
                    std::function<void(PermissionChoice)> answer) override;
  void OnPermissionOver(int64_t number) override;
  void OnClientCall(const std::string& method, const Json& params, Peer::Respond respond) override;
  void OnSilence(absl::Duration silent) override;
  void OnEnd(const AgentError& error) override;

  template <typename Request>
  Request For() const {
    return RequestAbout<Request>(name_);
  }
  // Repeats the call until it is answered, or the session is not ours any more.
  template <typename Request>
  auto Persistently(Request request);
  template <typename Coroutine>
  void Spawn(Coroutine coroutine);

  SessionHost* const host_;
  AgentScheduler* const scheduler_;
  SessionPlan plan_;
  const v1::Session session_;  // What the plan is made of.
  const SessionName name_;
  const std::shared_ptr<Recorder> recorder_;
  const std::shared_ptr<SessionQuestions> questions_;

  State state_ = State::kAsleep;
  int64_t life_ = 0;  // Counts its agents, so that what began with one ends with it.
  std::shared_ptr<RunningAgent> running_;
  std::shared_ptr<AgentSession> agent_;
  std::shared_ptr<const FileAccess> files_;  // As of the start of the present agent.
  std::unique_ptr<Terminals> terminals_;
  std::unique_ptr<DiskThread> disk_;  // Goes before these.
  AgentRestarts restarts_;
  absl::Time start_at_ = absl::InfinitePast();
  std::unique_ptr<Timers::Timer> start_timer_;
  std::unique_ptr<Timers::Timer> start_deadline_;
  std::unique_ptr<Timers::Timer> idle_timer_;
  bool wanted_again_ = false;   // As soon as the present agent has ended.
  bool failing_start_ = false;  // While the process ends that could not be started.
  AgentError last_end_;         // Which nobody has asked for, and no agent was ready since.
  bool fresh_ = false;          // Its agent's next session is a new one: until there is one.
  bool told_lost_ = false;      // So until then.
  bool released_ = false;
  bool is_to_stop_ = false;  // Somebody wants it so, also where a turn waits for it.
  // As the tracker has it; of an agent that was never asked anything there is none.
  std::string agent_session_id_;
  bool prompted_ = false;  // The present agent has something to forget.
  AgentDetails details_;
  std::optional<AgentDetails> to_restore_;  // While the present agent takes its choices back.

  std::shared_ptr<boost::asio::cancellation_signal> receiving_;  // While messages are received.
  std::optional<Turn> turn_;
  // What came before the tracker's answer to the end of the turn before it.
  std::optional<Turn> next_turn_;
  bool failing_turn_ = false;                    // That another process has begun.
  std::optional<AgentError> gave_up_;            // A person has to look before it is started again.
  std::vector<Later<bool>> changes_;             // That are waited for.
  std::optional<ShellCommands> shell_commands_;  // Of the answer to the present turn.
  std::string results_;  // What became of commands, that the agent was not told yet.
  int rounds_ = 0;       // Prompts with results in a row.
  std::optional<ToolCalls> tool_calls_;  // Of the prompt that is under way.
  TurnSpans spans_;
  std::string title_;  // That the tracker was not told yet.
  bool holds_agent_ = false;

  std::vector<std::string> controls_;  // That wait for the agent to run.
  std::unique_ptr<Timers::Timer> control_timer_;
  v1::SetAgentStateRequest said_;
  bool publishing_ = false;
  bool publish_again_ = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SESSION_RUNNER_H_
