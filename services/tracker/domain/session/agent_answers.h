#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/shell_commands.h"
#include "tracker/domain/session/idle_map.h"
#include "tracker/domain/session/recorded_answer.h"
#include "tracker/domain/session/session_event.h"
#include "tracker/domain/session/session_feed.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {

// Text of one call; an agent sends pieces of a few words.
inline constexpr size_t kMaxAgentTextBytes = size_t{1} << 20;
// How long a session's last answer is remembered, and how long an agent can pause within an answer.
inline constexpr absl::Duration kAgentAnswerIdle = absl::Hours(1);

// A piece of an agent's answer.
struct AgentText {
  // Number of the agent's answer within the whole session, from 0.
  int64_t iteration = 0;
  // Bytes of the answer before this piece. Nullopt: it follows the known text.
  std::optional<int64_t> offset;
  std::string text;
  bool end = false;  // It is the last piece.
};

// A command in such a piece.
struct AgentCommand {
  ShellCommand command;
  int64_t seq = 0;      // Of its `tool_call`.
  bool is_new = false;  // It must be run; the others were reported before.
};

struct AddedAgentText {
  std::vector<AgentCommand> commands;  // Those that end in this piece.
  int64_t length = 0;                  // Bytes of the answer that are known now.
};

// Interface of a session for AgentAnswers.
class AnsweringSession {
 public:
  virtual ~AnsweringSession() = default;

  virtual const SessionMetadata& metadata() = 0;
  virtual const RecordedAnswer& recorded_answer() const = 0;
  virtual absl::StatusOr<EventPtr> Record(NewEvent event, absl::Time now) = 0;
  // Shows the agent's text to observers. Not stored.
  virtual void ShowText(StreamedText text) = 0;
  // Calls `effect` after the next commit, with its status.
  virtual void AfterCommit(std::function<void(const absl::Status&)> effect) = 0;
};

// The agents' answers while they stream in, with the commands in them. They are in memory, and
// advance with the commits of their sessions: text that was not committed counts as not received.
// If a restart interrupts an answer, only its commands are recorded; a caller that sends it again
// from its beginning continues it. Belongs to one thread and its sessions.
class AgentAnswers {
 public:
  // At most as many at a time as `limits` allow.
  explicit AgentAnswers(const SessionLimits& limits)
      : limits_(limits), entries_(limits.agent_answers, kAgentAnswerIdle) {}

  // Finds the commands that end in this piece, and records each as a `tool_call` with status
  // `queued`. With the last piece, records the answer as an `agent_message`. Skips known text, and
  // shows the rest to observers. A later iteration ends the one before, if that has not ended.
  // InvalidField for an iteration that has ended, AnswerGap, SessionEnded, EventTooLarge,
  // TooManyAnswers, TooManyAnswerBytes.
  absl::StatusOr<AddedAgentText> Add(AnsweringSession& session, const AgentText& piece,
                                     absl::Time now);
  // Text of the answer that streams in: up to kMaxStreamedBytes of its end. Nullopt if there is
  // none.
  std::optional<StreamedText> Text(const std::string& session_id) const;
  // The session was removed.
  void Forget(const std::string& session_id) { entries_.Remove(session_id); }

 private:
  struct Found {
    ShellCommand command;
    int64_t seq;
    int64_t end;  // Bytes of the answer up to and including its closing tag.
  };
  struct Answer {
    explicit Answer(int64_t iteration) : detector(iteration) {}

    ShellCommandDetector detector;
    std::string text;    // Kept until it has ended.
    int64_t length = 0;  // Bytes.
    std::vector<Found> found;
    int64_t started = 0;  // Number of its commands that were reported.
    bool ended = false;
  };
  // Progress of an answer.
  struct Mark {
    ShellCommandDetector detector;
    int64_t length;
    size_t found;
    bool ended;
  };
  struct Entry {
    Entry(Answer answer, std::string of)
        : owner(std::move(of)), present(std::move(answer)), stored(MarkOf(present)) {}

    const std::string owner;  // Of its session.
    Answer present;
    // Progress at the last commit: of the answer before, if the present one has begun since.
    Mark stored;
    std::unique_ptr<Answer> before;
  };

  static Mark MarkOf(const Answer& answer);
  static void GoBack(Answer& answer, const Mark& mark);
  // The part of a piece that was known before.
  static AddedAgentText Known(const Answer& answer, int64_t offset, const AgentText& piece);

  absl::StatusOr<Entry*> Find(AnsweringSession& session, const AgentText& piece, absl::Time now);
  absl::Status Feed(AnsweringSession& session, Answer& answer, absl::string_view text,
                    AddedAgentText& added, absl::Time now);
  absl::Status End(AnsweringSession& session, Answer& answer, absl::Time now);
  void OnCommit(const std::string& session_id, bool stored, absl::Time now);

  // Checks that there is room for this many more bytes of text.
  absl::Status CheckRoom(const std::string& owner, size_t more, absl::Time now);

  const SessionLimits limits_;
  IdleMap<std::shared_ptr<Entry>> entries_;
};

}  // namespace callslip::tracker
