#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_ANSWERS_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/session/idle_map.h"
#include "tracker/domain/session/session.h"
#include "tracker/domain/session/shell_command_detector.h"

namespace callslip::tracker {

// What streams in one call: an agent speaks in pieces of a few words.
inline constexpr size_t kMaxAgentTextBytes = size_t{1} << 20;
// Sessions whose answers are followed at a time.
inline constexpr size_t kMaxAgentAnswers = 1000;
// How long it is remembered which answer was a session's last; and how long an agent may fall
// silent within one.
inline constexpr absl::Duration kAgentAnswerIdle = absl::Hours(1);

// A piece of an agent's answer.
struct AgentText {
  // Counts the agent's answers over the whole session, from 0.
  int64_t iteration = 0;
  std::string text;
  bool end = false;  // It is the last piece.
};

// The agents' answers as they stream in, with the commands in them. They live in memory: of an
// answer that a restart has cut off only its commands are recorded. Thread-safe for different
// sessions; Add() runs on the session's thread.
class AgentAnswers {
 public:
  // Finds the commands that end in this piece, and records each as a `tool_call` with status
  // `queued`, and with the last piece the answer as an `agent_message`. A later iteration ends the
  // one before, where that was not ended.
  // InvalidField for an iteration that has ended, SessionEnded, EventTooLarge, TooManyAnswers.
  absl::StatusOr<std::vector<ShellCommand>> Add(Session& session, const AgentText& piece,
                                                absl::Time now);

 private:
  struct Answer {
    explicit Answer(int64_t iteration) : detector(iteration) {}

    ShellCommandDetector detector;
    std::string text;
    bool ended = false;
  };

  absl::StatusOr<std::shared_ptr<Answer>> Find(const std::string& session_id, int64_t iteration,
                                               absl::Time now);
  absl::Status End(Session& session, Answer& answer, absl::Time now);

  Mutex mutex_;
  // An answer itself is used by the thread of its session only.
  IdleMap<std::shared_ptr<Answer>> answers_ ABSL_GUARDED_BY(mutex_){kMaxAgentAnswers,
                                                                    kAgentAnswerIdle};
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_ANSWERS_H_
