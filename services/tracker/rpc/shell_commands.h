#ifndef CALLSLIP_TRACKER_RPC_SHELL_COMMANDS_H_
#define CALLSLIP_TRACKER_RPC_SHELL_COMMANDS_H_

#include <memory>
#include <string>

#include "common/clock.h"
#include "tracker/domain/command/command_table.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/domain/session/shell_command_detector.h"
#include "tracker/timer_thread.h"

namespace callslip::tracker {

struct OpenShellCommands;

// Has the commands of agents' answers run by the workers of their sessions, and records in the
// session that each runs and how it has ended. Thread-safe.
class ShellCommands {
 public:
  // `commands` must have been drained before `sessions` goes.
  ShellCommands(Clock* clock, CommandTable* commands, SessionTable* sessions,
                std::shared_ptr<TimerThread> timers);

  // Registers a command of `session_id`, which belongs to `client_id`, and follows it. Returns the
  // command's id; empty where it was refused, in which case it is recorded why. Does not block.
  std::string Start(const std::string& client_id, const std::string& session_id,
                    const ShellCommand& command);

  // After the drain of the command table: records how the commands have ended of which it has told
  // nothing any more, or that they won't, and sees to that.
  void Settle();

 private:
  Clock* const clock_;
  CommandTable* const commands_;
  SessionTable* const sessions_;
  const std::shared_ptr<TimerThread> timers_;
  const std::shared_ptr<OpenShellCommands> open_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_SHELL_COMMANDS_H_
