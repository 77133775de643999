#ifndef CALLSLIP_RUNNER_SESSION_SESSION_AGENT_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_AGENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "runner/agent/running_agent.h"
#include "runner/client/disk_thread.h"
#include "runner/client/file_access.h"
#include "runner/client/terminals.h"
#include "runner/later.h"
#include "runner/session/agent_details.h"
#include "runner/session/recorder.h"
#include "runner/session/session_host.h"
#include "runner/session/session_name.h"
#include "runner/session/session_plan.h"

namespace callslip::runner {

// The agent of a session from one start to its end: the folders that it works in, its process, its
// session there, and what it calls the runner for. Never started a second time. Lives on the
// runner's one thread; it is there until OnOver() has been called.
class SessionAgent : public std::enable_shared_from_this<SessionAgent>,
                     private AgentSession::Listener {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // It takes prompts. Not called once it was stopped.
    virtual void OnReady() = 0;
    // Once, after all else: nothing is left of it, and there is room for another one. `why` is
    // empty where it was stopped before it ended.
    virtual void OnOver(const AgentError& why) = 0;
    // See AgentSession::Listener. What it says of itself before it is ready is in its details.
    virtual void OnUpdate(AgentUpdate update) = 0;
    virtual void OnPermission(PermissionQuestion question,
                              std::function<void(PermissionChoice)> answer) = 0;
    virtual void OnPermissionOver(int64_t number) = 0;
    virtual void OnSilence(absl::Duration silent) = 0;
  };
  // What the session knows of its agents before this one.
  struct Before {
    std::string agent_session_id;  // That is to be restored; empty: it begins a new one.
    AgentDetails details;          // What was chosen is chosen again.
    std::string traceparent;       // Of the session's trace; empty: it has none.
  };
  using StartProcess = std::function<std::shared_ptr<RunningAgent>(AgentSettings)>;
  // One that runs, or how one is started once the folders are open.
  using Process = std::variant<std::shared_ptr<RunningAgent>, StartProcess>;

  // All that is pointed to must outlive it.
  SessionAgent(SessionHost* host, Owner* owner, SessionName session, SessionPlan plan,
               std::shared_ptr<Recorder> recorder, Before before);

  // Once.
  void Begin(Process process);
  // It is to end: OnOver() tells when it has. The process goes on where other sessions are in it.
  void Stop();

  // These two are there from OnReady() on.
  const acp::Capabilities& capabilities() const { return process_->agent().capabilities(); }
  AgentSession& session() { return *session_; }
  const std::shared_ptr<const FileAccess>& files() const { return files_; }
  // How commands run for it.
  const CommandHost& commands() const { return commands_; }
  // What it has told of itself by OnReady().
  const AgentDetails& details() const { return details_; }
  // It has something of the session to forget: it was restored, or asked something since.
  bool has_context() const { return has_context_; }
  void WasAsked() { has_context_ = true; }
  // The same, and it could not be given that back.
  bool would_forget() const {
    return has_context_ && !capabilities().resume && !capabilities().load;
  }
  // OnReady() was called.
  bool was_ready() const { return is_ready_; }
  // Its start has failed, and what is left of it ends.
  bool has_failed() const { return has_failed_; }
  // Why it could not restore the session, and has begun a new one.
  const std::optional<AgentError>& context_lost() const { return context_lost_; }

 private:
  using Opened = std::variant<std::shared_ptr<AgentSession>, AgentError>;
  using Result = boost::asio::awaitable<std::optional<AgentError>>;

  // Its life.
  boost::asio::awaitable<void> Run(Process process);
  // These return why it could not be started, and return early where it was stopped.
  Result Open(Process process);
  Result OpenWorkplace();
  Result OpenSession();
  Result RestoreChoices();
  boost::asio::awaitable<bool> Choose(std::function<void(AgentSession::Done)> set);
  boost::asio::awaitable<acp::SessionSetup> Setup();
  Agent::Opened TakeOpened(const Later<Opened>& later);
  void Enter(std::shared_ptr<RunningAgent> process);
  boost::asio::awaitable<void> LeaveProcess();
  // Ends the process where the session is not ready by then.
  void StartWithin(absl::Duration wait);
  // Until what it has said is recorded.
  void Hold();

  void OnUpdate(AgentUpdate update) override;
  void OnPermission(PermissionQuestion question,
                    std::function<void(PermissionChoice)> answer) override;
  void OnPermissionOver(int64_t number) override { owner_->OnPermissionOver(number); }
  void OnClientCall(const std::string& method, const Json& params, Peer::Respond respond) override;
  void OnSilence(absl::Duration silent) override { owner_->OnSilence(silent); }
  void OnEnd(const AgentError& error) override { end_.Set(error); }

  const std::string& id() const { return name_.session_id; }

  SessionHost* const host_;
  Owner* const owner_;
  const SessionName name_;
  const SessionPlan plan_;
  const std::shared_ptr<Recorder> recorder_;
  const Before before_;

  CommandHost commands_;
  std::shared_ptr<const FileAccess> files_;
  std::unique_ptr<Terminals> terminals_;
  std::unique_ptr<DiskThread> disk_;  // Goes before these.
  std::shared_ptr<RunningAgent> process_;
  std::shared_ptr<AgentSession> session_;
  AgentDetails details_;
  std::optional<AgentError> context_lost_;
  const Later<std::optional<AgentError>> entered_;  // The process is ready, or why it never was.
  std::optional<Later<bool>> choice_;               // That it is to take.
  const Later<AgentError> end_;                     // Of its session.
  std::unique_ptr<Timers::Timer> deadline_;
  bool is_stopping_ = false;
  bool is_ready_ = false;
  bool has_failed_ = false;
  bool has_context_ = false;
  bool is_held_ = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SESSION_AGENT_H_
