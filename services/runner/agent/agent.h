#pragma once

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

// Timeouts of an agent. In a turn they limit silence, never the duration of the work.
struct AgentPatience {
  absl::Duration initialize = absl::Seconds(60);
  // Without any output while it creates a session: it may have to install a lot first.
  absl::Duration new_session = absl::Seconds(120);
  // Without any output while it restores a session; also the limit of the replay that follows.
  absl::Duration restore = absl::Seconds(120);
  // To open a session, whatever the agent sends meanwhile; starts once the process is ready.
  // Restoring the mode and settings then has `initialize`.
  absl::Duration start = absl::Minutes(10);
  // To exit after closing stdin or stdout: communication is no longer possible.
  absl::Duration pipe_end = absl::Seconds(2);
  // To end a cancelled turn.
  absl::Duration cancel = absl::Seconds(10);
  // Silence in a turn until it is reported.
  absl::Duration silence = absl::Minutes(2);
  // Silence in a turn until the agent is killed.
  absl::Duration turn_idle = absl::InfiniteDuration();
  // Late updates of a turn, or of a load, arrive within `late` of the previous one; those of a turn
  // arrive within `latest` in total.
  absl::Duration late = absl::Milliseconds(100);
  absl::Duration latest = absl::Seconds(1);
};

struct AgentSettings {
  std::string name;  // The configured name.
  AgentCommand command;
  std::string auth_method;  // Empty: none.
  std::string login;        // The command with which a user logs in to the agent.
  acp::Offer offer;
  AgentPatience patience;
  StopPatience stop;
};

// A conversation of the agent. Ends with its Agent; may be kept longer.
class AgentSession : public std::enable_shared_from_this<AgentSession> {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnUpdate(AgentUpdate update) = 0;
    // `answer` can be called at any time, once; further calls have no effect.
    virtual void OnPermission(PermissionQuestion question,
                              std::function<void(PermissionChoice)> answer) = 0;
    // The agent no longer waits for an answer to that question. Not called after the session has
    // ended.
    virtual void OnPermissionOver(int64_t number) = 0;
    // A call of fs/* or terminal/*.
    virtual void OnClientCall(const std::string& method, const Json& params,
                              Peer::Respond respond) = 0;
    // A turn has been silent for `silent`. Called again only after new activity.
    virtual void OnSilence(absl::Duration silent) = 0;
    // The session has ended; this is the last call.
    virtual void OnEnd(const AgentError& error) = 0;
  };
  using TurnEnd = std::variant<PromptEnd, AgentError>;

  // The agent's id of the session.
  const std::string& id() const { return id_; }
  // The modes and settings that the agent sent when the session began; null if none.
  const Json& modes() const { return modes_; }
  const Json& config_options() const { return config_options_; }

  // One turn at a time. `done` is called once, with the end of the turn.
  void Prompt(Json blocks, std::function<void(TurnEnd)> done, absl::string_view traceparent = "");
  bool is_prompting() const { return done_ != nullptr; }
  // Asks the agent to end the turn, and answers its open questions with `cancelled`. Kills an agent
  // that does not end the turn. No effect without a turn.
  void Cancel();
  using Done = std::function<void(RpcAnswer)>;
  void SetMode(const std::string& mode_id, Done done);
  void SetConfigOption(const std::string& id, const std::string& value, Done done);
  // Pauses and resumes reading of the agent's output, for all of its sessions.
  void Hold();
  void GoOn();
  // Allows the agent to forget the session. Does not call the listener any more; a turn under way
  // ends as cancelled. Kills an agent that continues that turn.
  void Close();

 private:
  friend class Agent;

  AgentSession(Agent* agent, Listener* listener) : agent_(agent), listener_(listener) {}

  void Begin(std::string id, const Json& answer);
  void Heard();
  void TakeUpdate(const Json& update);
  void TakeQuestion(const Json& request, const Json& params, Peer::Respond respond);
  void TakeWithdrawal(const Json& request);
  // Answers all open questions with `cancelled`.
  void EndQuestions();
  void TakeCall(const std::string& method, const Json& params, const Peer::Respond& respond);
  void TakeAnswer(RpcAnswer answer);
  // Kills the agent unless it answers the prompt in time.
  void KillUnlessCancelled();
  void AwaitLate();
  // Calls `replayed` once the agent has finished replaying the history, or has ended.
  void AwaitReplay(std::function<void(std::optional<AgentError>)> replayed);
  void OnReplayed();
  void EndTurn(TurnEnd end);
  void WatchSilence(absl::Duration wait);
  void OnQuiet();
  void End(const AgentError& error);

  Agent* const agent_;  // Valid until `end_` is set.
  Listener* const listener_;
  std::string id_;
  Json modes_;
  Json config_options_;

  std::optional<AgentError> end_;
  std::function<void(TurnEnd)> done_;  // Set during a turn.
  std::optional<TurnEnd> answered_;    // The end of the turn, while waiting for late updates.
  absl::Time answer_time_;
  std::function<void(std::optional<AgentError>)> replayed_;  // Set during a replay.
  std::vector<AgentUpdate> held_;  // Updates that are not part of the replay.
  bool written_ = false;
  bool cancelled_ = false;
  absl::Time heard_time_;
  bool told_silence_ = false;
  bool is_held_ = false;
  struct Question {
    Json request;  // The agent's request id.
    Peer::Respond respond;
  };
  std::map<int64_t, Question> questions_;  // Open questions by number.
  int64_t last_question_ = 0;
  int open_calls_ = 0;  // Client calls that this side has not answered yet.
  std::unique_ptr<Timers::Timer> cancel_timer_;
  std::unique_ptr<Timers::Timer> silence_timer_;
  std::unique_ptr<Timers::Timer> late_timer_;
};

// A running agent: its process, the conversation with it, and its sessions. Not thread-safe: use on
// one thread.
class Agent : public std::enable_shared_from_this<Agent>,
              private AgentProcess::Listener,
              private Peer::Listener {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The agent is initialized and accepts sessions.
    virtual void OnReady() = 0;
    // Called once, last: no process is left. OnEnd() of the sessions was called before.
    virtual void OnEnd(const AgentError& error) = 0;
    // A line that is not a message; called at most once per second.
    virtual void OnNoise(absl::string_view /*line*/) {}
  };
  using Opened = std::function<void(std::variant<std::shared_ptr<AgentSession>, AgentError>)>;

  // The returned agent, `context`, `timers` and `listener` must live until OnEnd(). Calls nothing
  // of `listener` before it returns.
  static std::shared_ptr<Agent> Start(boost::asio::io_context& context, Timers* timers,
                                      const std::string& keeper, AgentSettings settings,
                                      Listener* listener);
  ~Agent() override;

  // Call after OnReady(). Updates that arrive before `opened` is called are delivered after it.
  // `listener` must live until its OnEnd().
  void NewSession(const acp::SessionSetup& setup, AgentSession::Listener* listener, Opened opened);
  // Restores the session with that id through session/resume or session/load; drops the history
  // that the agent replays. `cannot_restore` if the agent cannot restore it; never opens a new
  // session instead.
  void RestoreSession(const std::string& id, const acp::SessionSetup& setup,
                      AgentSession::Listener* listener, Opened opened);

  // End the agent with all its sessions; OnEnd() is called when done. Kill() does not wait for the
  // agent to exit.
  void Stop();
  void Kill();
  // Kills the agent because the session of `whose`, which may still be opening, failed. That
  // session ends with `error`, all others with an error that blames another session.
  void GiveUp(AgentError error, const AgentSession::Listener* whose);

  // Whether a session has paused reading of the output.
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
  // Limit for an agent that does not read its stdin; a prompt can contain many images.
  static constexpr size_t kMaxUnwrittenBytes = size_t{256} << 20;

  Agent(Timers* timers, AgentSettings settings, Listener* listener);

  void Begin();
  void Write(std::string line);
  void TakeInitialized(RpcAnswer answer);
  void Ready();
  void Restore(const std::string& method, const std::string& id, const acp::SessionSetup& setup,
               const std::shared_ptr<AgentSession>& session, const Opened& opened);
  // Kills the agent after `silence` without output.
  void Await(Opening& opening, absl::Duration silence, const AgentError& error);
  void EndOpening(const std::shared_ptr<Opening>& opening);
  // `session` is the session at fault; null: the agent itself.
  void KillFor(AgentError error, const AgentSession* session = nullptr);
  void HoldOutput();
  // Why the process ended, as reported to `session`.
  AgentError WhyOver(const AgentSession* session) const;
  AgentError ErrorFrom(const RpcError& error) const;
  // Passes `written` to the write of this request.
  void Request(absl::string_view method, Json params, std::function<void(RpcAnswer)> done,
               std::function<void(bool)> written = nullptr);
  AgentSession* Find(const Json& params);
  // Like Find(), but also finds a session that is being restored, because the agent may need client
  // calls for that.
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
  std::optional<AgentError> why_;         // Why the agent is being ended.
  const AgentSession* blamed_ = nullptr;  // The session at fault.
  bool is_killed_ = false;
  bool over_ = false;
};

}  // namespace callslip::runner
