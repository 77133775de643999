#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "rpc_client/promise.h"
#include "runner/agent/running_agent.h"
#include "runner/client/disk_thread.h"
#include "runner/client/file_access.h"
#include "runner/client/terminals.h"
#include "runner/session/agent_details.h"
#include "runner/session/recorder.h"
#include "runner/session/session_host.h"
#include "runner/session/session_name.h"
#include "runner/session/session_plan.h"

namespace callslip::runner {

// The agent of a session from one start to its end: its folders, its process, its session there,
// and its calls to the runner. Cannot be started a second time. Use on the runner's thread; exists
// until OnOver() has been called.
class SessionAgent : public std::enable_shared_from_this<SessionAgent>,
                     private AgentSession::Listener {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // The agent accepts prompts. Not called after Stop().
    virtual void OnReady() = 0;
    // Called once, last: nothing is left of the agent, and there is room for another one. `why` is
    // empty if it was stopped before it ended.
    virtual void OnOver(const AgentError& why) = 0;
    // See AgentSession::Listener. State that the agent reports before it is ready is in details().
    virtual void OnUpdate(AgentUpdate update) = 0;
    virtual void OnPermission(PermissionQuestion question,
                              std::function<void(PermissionChoice)> answer) = 0;
    virtual void OnPermissionOver(int64_t number) = 0;
    virtual void OnSilence(absl::Duration silent) = 0;
  };
  // The session's state from its earlier agents.
  struct Before {
    std::string agent_session_id;  // To restore; if empty, a new session is begun.
    AgentDetails details;          // Earlier choices, which are set again.
    std::string traceparent;       // Of the session's trace; empty if none.
  };
  using StartProcess = std::function<std::shared_ptr<RunningAgent>(AgentSettings)>;
  // A running process, or how to start one once the folders are open.
  using Process = std::variant<std::shared_ptr<RunningAgent>, StartProcess>;

  // All pointers must outlive this.
  SessionAgent(SessionHost* host, Owner* owner, SessionName session, SessionPlan plan,
               std::shared_ptr<Recorder> recorder, Before before);

  // Call once.
  void Begin(Process process);
  // Ends the agent; OnOver() reports the end. The process continues if it has other sessions.
  void Stop();

  // The next two are valid from OnReady() on.
  const acp::Capabilities& capabilities() const { return process_->agent().capabilities(); }
  AgentSession& session() { return *session_; }
  const std::shared_ptr<const FileAccess>& files() const { return files_; }
  // How commands run for the agent.
  const CommandHost& commands() const { return commands_; }
  // The state that the agent reported before OnReady().
  const AgentDetails& details() const { return details_; }
  // Whether the agent has context to lose: it was restored, or prompted since.
  bool has_context() const { return has_context_; }
  void WasAsked() { has_context_ = true; }
  // Whether it has such context and could not restore it.
  bool would_forget() const {
    return has_context_ && !capabilities().resume && !capabilities().load;
  }
  // Whether OnReady() was called.
  bool was_ready() const { return is_ready_; }
  // Its start has failed, and the rest of it is ending.
  bool has_failed() const { return has_failed_; }
  // Why it could not restore the session and began a new one.
  const std::optional<AgentError>& context_lost() const { return context_lost_; }

 private:
  using Opened = std::variant<std::shared_ptr<AgentSession>, AgentError>;
  using Result = boost::asio::awaitable<std::optional<AgentError>>;

  // The whole life of the agent.
  boost::asio::awaitable<void> Run(Process process);
  // These return why the agent could not be started, and return early after Stop().
  Result Open(Process process);
  Result OpenWorkplace();
  Result OpenSession();
  Result RestoreChoices();
  boost::asio::awaitable<bool> Choose(std::function<void(AgentSession::Done)> set);
  // Gives up at `latest`, with the tracker's error.
  boost::asio::awaitable<absl::StatusOr<acp::SessionSetup>> Setup(absl::Time latest);
  Agent::Opened TakeOpened(const Promise<Opened>& later);
  void Enter(std::shared_ptr<RunningAgent> process);
  boost::asio::awaitable<void> LeaveProcess();
  // Kills the process if the session is not ready in time.
  void StartWithin(absl::Duration wait);
  // Pauses the agent's output until the recorder has room.
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
  std::unique_ptr<DiskThread> disk_;  // Destroyed before the members above.
  std::shared_ptr<RunningAgent> process_;
  std::shared_ptr<AgentSession> session_;
  AgentDetails details_;
  std::optional<AgentError> context_lost_;
  const Promise<std::optional<AgentError>> entered_;  // Nullopt: the process is ready.
  std::optional<Promise<bool>> choice_;               // The choice being set.
  const Promise<AgentError> end_;                     // Of its session.
  std::unique_ptr<Timers::Timer> deadline_;
  bool is_stopping_ = false;
  bool is_ready_ = false;
  bool has_failed_ = false;
  bool has_context_ = false;
  bool is_held_ = false;
};

}  // namespace callslip::runner
