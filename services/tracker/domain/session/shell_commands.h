#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_SHELL_COMMANDS_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_SHELL_COMMANDS_H_

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

// Shell commands as workers of type "shell" get them and answer; see AddAgentText in
// session_service.proto.
struct ShellFormat {
  std::string (*params)(const ShellCommand& command);
  // Of a command that has ended.
  ShellResult (*result)(const ShellCommand& command, const CommandSnapshot& snapshot);
};

// Has the commands of agents' answers run by the workers of their sessions, and records in the
// session that each runs and how it has ended. Thread-safe.
class ShellCommands {
 public:
  // What is told of a command has passed `gate`, unless that is null. `commands` must have been
  // drained before `sessions` goes.
  ShellCommands(Clock* clock, CommandTable* commands, SessionCaller* sessions,
                std::shared_ptr<TimerThread> timers, OutputGate* gate, const ShellFormat& format);

  // Registers a command of `session`, which belongs to `client_id`, and follows it. Returns the
  // command's id; empty where it was refused, in which case it is recorded why. Does not block.
  std::string Start(const std::string& client_id, const SessionMetadata& session,
                    const AgentCommand& command);
  // The id of one that was started and has not ended; else empty.
  std::string Find(const SessionMetadata& session, const AgentCommand& command);

  // After the drain of the command table: records how the commands have ended of which it has told
  // nothing any more, or that they won't, and sees to that.
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

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_SHELL_COMMANDS_H_
