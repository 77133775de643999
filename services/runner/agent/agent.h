#ifndef CALLSLIP_RUNNER_AGENT_AGENT_H_
#define CALLSLIP_RUNNER_AGENT_AGENT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "boost/asio/io_context.hpp"
#include "runner/acp/agent_update.h"
#include "runner/acp/messages_v1.h"
#include "runner/acp/peer.h"
#include "runner/agent/agent_process.h"
#include "runner/timers.h"

namespace callslip::runner {

class Agent;

// How long an agent may take. It is told and ended for silence, never for the length of its work.
struct AgentPatience {
  absl::Duration initialize = absl::Seconds(60);
  // Without any line, while it makes a session: it may install much first.
  absl::Duration new_session = absl::Seconds(120);
  // Without an update, while it restores one.
  absl::Duration restore = absl::Seconds(120);
  // From its start until its session is ready, whatever it says meanwhile. The part that takes its
  // mode and settings back has `initialize`.
  absl::Duration start = absl::Minutes(10);
  // For its end once it has closed stdin or stdout: nobody can speak with it any more.
  absl::Duration pipe_end = absl::Seconds(2);
  // Until it has ended a turn that was cancelled.
  absl::Duration cancel = absl::Seconds(10);
  // Of a turn without a word of it, until that is told.
  absl::Duration silence = absl::Minutes(2);
  // And until the turn is ended for it.
  absl::Duration turn_idle = absl::InfiniteDuration();
  // What still belongs to a turn, or to a load, comes within this of the last before it, and of a
  // turn within this in all.
  absl::Duration late = absl::Milliseconds(100);
  absl::Duration latest = absl::Seconds(1);
};

struct AgentSettings {
  std::string name;  // As it is configured.
  AgentCommand command;
  std::string auth_method;  // Empty: none.
  std::string login;        // The command by which a person logs in to it.
  acp::Offer offer;
  AgentPatience patience;
  StopPatience stop;
};

// What the agent knows as one conversation. Ends with its Agent; may be kept longer.
class AgentSession : public std::enable_shared_from_this<AgentSession> {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnUpdate(AgentUpdate update) = 0;
    // `answer` may be called at any time, once; later calls have no effect.
    virtual void OnPermission(PermissionQuestion question,
                              std::function<void(PermissionChoice)> answer) = 0;
    // The agent does not wait for the answer to that question any more. Not told once the session
    // has ended.
    virtual void OnPermissionOver(int64_t number) = 0;
    // Of fs/* and terminal/*.
    virtual void OnClientCall(const std::string& method, const Json& params,
                              Peer::Respond respond) = 0;
    // Nothing was heard of a turn for so long. Told again once there was something in between.
    virtual void OnSilence(absl::Duration silent) = 0;
    // Nothing will come any more.
    virtual void OnEnd(const AgentError& error) = 0;
  };
  using TurnEnd = std::variant<PromptEnd, AgentError>;

  // As the agent calls it.
  const std::string& id() const { return id_; }
  // What it has said of its modes and settings when it began; null where nothing.
  const Json& modes() const { return modes_; }
  const Json& config_options() const { return config_options_; }

  // One at a time. `written` is told whether all of it was written; `done`, once, how it has ended.
  void Prompt(Json blocks, std::function<void(bool whole)> written,
              std::function<void(TurnEnd)> done, absl::string_view traceparent = "");
  bool is_prompting() const { return done_ != nullptr; }
  // Asks the agent to end the turn, and answers what it asks for with `cancelled`. An agent that
  // does not is killed. Harmless without a turn.
  void Cancel();
  using Done = std::function<void(RpcAnswer)>;
  void SetMode(const std::string& mode_id, Done done);
  void SetConfigOption(const std::string& id, const std::string& value, Done done);
  // What it says is not read for now, nor is what its agent's other sessions say.
  void Hold();
  void GoOn();
  // The agent may forget it. Nothing is told of it any more, but that a turn under way has ended:
  // as cancelled. An agent that goes on with that turn is killed.
  void Close();

 private:
  friend class Agent;

  AgentSession(Agent* agent, Listener* listener) : agent_(agent), listener_(listener) {}

  void Begin(std::string id, const Json& answer);
  void Heard();
  void TakeUpdate(const Json& update);
  void TakeQuestion(const Json& request, const Json& params, Peer::Respond respond);
  void TakeWithdrawal(const Json& request);
  // All that are open, with `cancelled`.
  void EndQuestions();
  void TakeCall(const std::string& method, const Json& params, const Peer::Respond& respond);
  void TakeAnswer(RpcAnswer answer);
  // The agent, unless it answers the prompt in time.
  void KillUnlessCancelled();
  void AwaitLate();
  // Calls `replayed` once the agent is done with repeating what was said, or has ended.
  void AwaitReplay(std::function<void(std::optional<AgentError>)> replayed);
  void OnReplayed();
  void EndTurn(TurnEnd end);
  void WatchSilence(absl::Duration wait);
  void OnQuiet();
  void End(const AgentError& error);

  Agent* const agent_;  // There while `end_` is not.
  Listener* const listener_;
  std::string id_;
  Json modes_;
  Json config_options_;

  std::optional<AgentError> end_;
  std::function<void(TurnEnd)> done_;  // Set while there is a turn.
  std::optional<TurnEnd> answered_;    // Its end, while late updates are awaited.
  absl::Time answer_time_;
  std::function<void(std::optional<AgentError>)> replayed_;  // Set while it repeats.
  std::vector<AgentUpdate> held_;                            // Which are no repetition.
  bool written_ = false;
  bool cancelled_ = false;
  absl::Time heard_time_;
  bool told_silence_ = false;
  bool is_held_ = false;
  struct Question {
    Json request;  // The id that the agent has given it.
    Peer::Respond respond;
  };
  std::map<int64_t, Question> questions_;  // Open ones, by their numbers.
  int64_t last_question_ = 0;
  int open_calls_ = 0;  // Of this end: the agent waits for us.
  std::unique_ptr<Timers::Timer> cancel_timer_;
  std::unique_ptr<Timers::Timer> silence_timer_;
  std::unique_ptr<Timers::Timer> late_timer_;
};

// A running agent: its process, the conversation with it, and its sessions. Lives on one thread.
class Agent : public std::enable_shared_from_this<Agent>,
              private AgentProcess::Listener,
              private Peer::Listener {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // It is there, and takes sessions.
    virtual void OnReady() = 0;
    // Once, after all else: nothing of it is left. Sessions have been told before.
    virtual void OnEnd(const AgentError& error) = 0;
    // A line that is no message; at most one a second.
    virtual void OnNoise(absl::string_view /*line*/) {}
  };
  using Opened = std::function<void(std::variant<std::shared_ptr<AgentSession>, AgentError>)>;

  // It, `context`, `timers` and `listener` must live until OnEnd(). Nothing of `listener` is called
  // before this returns.
  static std::shared_ptr<Agent> Start(boost::asio::io_context& context, Timers* timers,
                                      const std::string& keeper, AgentSettings settings,
                                      Listener* listener);
  ~Agent() override;

  // Once it is ready. What the session is told before `opened` is called is kept for it. `listener`
  // must live until its OnEnd().
  void NewSession(const acp::SessionSetup& setup, AgentSession::Listener* listener, Opened opened);
  // The one with that id, as it was: by session/resume or session/load, what the agent repeats of
  // it being dropped. `cannot_restore` where it can't; never a new one instead.
  void RestoreSession(const std::string& id, const acp::SessionSetup& setup,
                      AgentSession::Listener* listener, Opened opened);

  // Ends it with all its sessions; OnEnd() tells when that is done. Kill() does not wait for it.
  void Stop();
  void Kill();
  // The same, for what the session of `whose` has not come to, also while it is being opened. All
  // its sessions are told; others, that it was for that one.
  void GiveUp(AgentError error, const AgentSession::Listener* whose);

  // What it says is not read for now: some session has said so.
  bool is_held() const;

  const acp::Capabilities& capabilities() const { return capabilities_; }
  size_t sessions() const { return sessions_.size(); }

 private:
  friend class AgentSession;

  // A session that is being opened.
  struct Opening {
    std::shared_ptr<AgentSession> session;
    bool drops_updates = false;
    absl::Time since;
    std::unique_ptr<Timers::Timer> timer;
  };
  static constexpr size_t kMaxEarlyUpdates = 64;
  static constexpr size_t kMaxEarlyBytes = size_t{1} << 20;
  // For an agent that does not read; a prompt may have many images.
  static constexpr size_t kMaxUnwrittenBytes = size_t{256} << 20;

  Agent(Timers* timers, AgentSettings settings, Listener* listener);

  void Begin();
  void Write(std::string line);
  void TakeInitialized(RpcAnswer answer);
  void Ready();
  void Restore(const std::string& method, const std::string& id, const acp::SessionSetup& setup,
               const std::shared_ptr<AgentSession>& session, const Opened& opened);
  // Kills it unless it is heard of for so long.
  void Await(Opening& opening, absl::Duration silence, const AgentError& error);
  void EndOpening(const std::shared_ptr<Opening>& opening);
  // For what `session` has done or not done; null: the agent itself.
  void KillFor(AgentError error, const AgentSession* session = nullptr);
  void HoldOutput();
  // The end of the process, as one of its sessions is told of it.
  AgentError WhyOver(const AgentSession* session) const;
  AgentError ErrorFrom(const RpcError& error) const;
  // Writes the next line with `written` told.
  int64_t Request(absl::string_view method, Json params, std::function<void(RpcAnswer)> done,
                  std::function<void(bool)> written = nullptr);
  AgentSession* Find(const Json& params);
  // The same, or one that is being restored: the agent may need something for that.
  AgentSession* FindForRequest(const Json& params);
  void KeepEarly(const std::string& id, const Json& update);

  void OnOutput(absl::string_view bytes) override;
  void OnPipeEnd(absl::string_view which) override;
  void OnEnd(const AgentExit& exit) override;
  void OnRequest(const Json& id, const std::string& method, const Json& params,
                 Peer::Respond respond) override;
  void OnNotification(const std::string& method, const Json& params) override;
  void OnNoise(absl::string_view line) override;

  Timers* const timers_;
  const AgentSettings settings_;
  Listener* const listener_;
  Peer peer_;
  std::shared_ptr<AgentProcess> process_;
  acp::Capabilities capabilities_;
  std::unique_ptr<Timers::Timer> start_timer_;
  std::unique_ptr<Timers::Timer> pipe_timer_;
  std::map<std::string, std::shared_ptr<AgentSession>> sessions_;
  std::vector<std::shared_ptr<Opening>> openings_;
  std::map<std::string, std::vector<Json>> early_;
  size_t early_updates_ = 0;
  size_t early_bytes_ = 0;
  std::function<void(bool)> written_;
  absl::Time heard_time_;
  absl::Time noise_time_ = absl::InfinitePast();
  std::optional<AgentError> why_;         // It is ended.
  const AgentSession* blamed_ = nullptr;  // The session that it is ended for.
  bool is_killed_ = false;
  bool over_ = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_AGENT_AGENT_H_
