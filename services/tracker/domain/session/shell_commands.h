#pragma once

#include <memory>
#include <string>

#include "common/clock.h"
#include "common/timer_thread.h"
#include "tracker/domain/journal/output_gate.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/session/agent_answers.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

struct OpenShellCommands;

// Format of shell commands for workers of type "shell", and of their results; see AddAgentText in
// session_service.proto.
struct ShellFormat {
  std::string (*params)(const ShellCommand& command);
  // For a command that has ended.
  ShellResult (*result)(const ShellCommand& command, const CommandSnapshot& snapshot);
};

// Runs the commands of agents' answers on the workers of their sessions, and records in the session
// that each runs and how it ended. Thread-safe.
class ShellCommands {
 public:
  // Updates of commands are passed on through `gate`, unless it is null. `commands` must be drained
  // before `sessions` is destroyed.
  ShellCommands(Clock* clock, CommandTable* commands, SessionCaller* sessions,
                std::shared_ptr<TimerThread> timers, OutputGate* gate, const ShellFormat& format);

  // Registers a command of `session`, owned by `client_id`, and follows it. Returns the command's
  // id; empty if it was refused, in which case the reason is recorded. Does not block.
  std::string Start(const std::string& client_id, const SessionMetadata& session,
                    const AgentCommand& command);
  // The id of a started command that has not ended; else empty.
  std::string Find(const SessionMetadata& session, const AgentCommand& command);

  // After the drain of the command table, which reports no more ends: records the end of each open
  // command. One that has not ended is expired, and recorded as failed.
  void Settle();

 private:
  Clock* const clock_;
  CommandTable* const commands_;
  SessionCaller* const sessions_;
  const std::shared_ptr<TimerThread> timers_;
  OutputGate* const gate_;
  const ShellFormat format_;
  const std::shared_ptr<OpenShellCommands> open_;
};

}  // namespace callslip::tracker
