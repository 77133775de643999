#pragma once

#include <string>

#include "absl/status/status.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "common/clock.h"
#include "common/log_limit.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// Logs the life of commands. Normal events are logged at `debug` only, so that a busy tracker does
// not log a line for each command; failures, refusals and late results are logged at `info`, up to
// 20 lines of each kind per second. Lines name the command, its client and its trace, never its
// payloads. Thread-safe.
class CommandLog {
 public:
  explicit CommandLog(Clock* clock)
      : failures_(clock, kLines), refusals_(clock, kLines), late_results_(clock, kLines) {}

  // Logs at debug. `event` is a constant.
  static void Note(absl::string_view event, const CommandSnapshot& command);
  // It ended in a state other than completed or cancelled.
  void Failed(const CommandSnapshot& command);
  // A registration was refused.
  void Refused(const std::string& client_id, const v1::RegisterCommandRequest& request,
               const absl::Status& status);
  // A result arrived after the command had ended as `state`.
  void LateResult(const std::string& command_id, CommandState state, const TraceContext& trace);

 private:
  static constexpr int kLines = 20;

  LogLimit failures_;
  LogLimit refusals_;
  LogLimit late_results_;
};

}  // namespace callslip::tracker
