#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_ANSWERS_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_ANSWERS_H_

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

// What streams in one call: an agent speaks in pieces of a few words.
inline constexpr size_t kMaxAgentTextBytes = size_t{1} << 20;
// How long it is remembered which answer was a session's last; and how long an agent may fall
// silent within one.
inline constexpr absl::Duration kAgentAnswerIdle = absl::Hours(1);

// A piece of an agent's answer.
struct AgentText {
  // Counts the agent's answers over the whole session, from 0.
  int64_t iteration = 0;
  // Bytes of the answer before this piece. None: it follows what is known.
  std::optional<int64_t> offset;
  std::string text;
  bool end = false;  // It is the last piece.
};

// A command in such a piece.
struct AgentCommand {
  ShellCommand command;
  int64_t seq = 0;      // Of its `tool_call`.
  bool is_new = false;  // It is to be run; the others were told of before.
};

struct AddedAgentText {
  std::vector<AgentCommand> commands;  // Those that end in this piece.
  int64_t length = 0;                  // Bytes of the answer that are known now.
};

// What the agents' answers need of the session of each.
class AnsweringSession {
 public:
  virtual ~AnsweringSession() = default;

  virtual const SessionMetadata& metadata() = 0;
  virtual const RecordedAnswer& recorded_answer() const = 0;
  virtual absl::StatusOr<EventPtr> Record(NewEvent event, absl::Time now) = 0;
  // Shows those who watch what the agent says. Stored nowhere.
  virtual void ShowText(StreamedText text) = 0;
  // `effect` follows the next commit, with its status.
  virtual void AfterCommit(std::function<void(const absl::Status&)> effect) = 0;
};

// The agents' answers as they stream in, with the commands in them. They live in memory, and move
// on with the commits of their sessions: what was not stored was not said. Of an answer that a
// restart has cut off only its commands are recorded; whoever sends it again from its beginning
// goes on with it. Belongs to one thread and its sessions.
class AgentAnswers {
 public:
  // As many at a time as `limits` have it.
  explicit AgentAnswers(const SessionLimits& limits)
      : limits_(limits), entries_(limits.agent_answers, kAgentAnswerIdle) {}

  // Finds the commands that end in this piece, and records each as a `tool_call` with status
  // `queued`, and with the last piece the answer as an `agent_message`. What is known of the piece
  // is passed over, and the rest is shown to those who watch. A later iteration ends the one
  // before, where that was not ended. InvalidField for an iteration that has ended, AnswerGap,
  // SessionEnded, EventTooLarge, TooManyAnswers, TooManyAnswerBytes.
  absl::StatusOr<AddedAgentText> Add(AnsweringSession& session, const AgentText& piece,
                                     absl::Time now);
  // What there is of the answer that streams in: up to kMaxStreamedBytes of its end; nothing where
  // none does.
  std::optional<StreamedText> Text(const std::string& session_id) const;
  // The session is gone.
  void Forget(const std::string& session_id) { entries_.Remove(session_id); }

 private:
  struct Found {
    ShellCommand command;
    int64_t seq;
    int64_t end;  // Bytes of the answer up to and with its closing tag.
  };
  struct Answer {
    explicit Answer(int64_t iteration) : detector(iteration) {}

    ShellCommandDetector detector;
    std::string text;    // Until it has ended.
    int64_t length = 0;  // Bytes.
    std::vector<Found> found;
    int64_t started = 0;  // So many of its commands were told of.
    bool ended = false;
  };
  // How far an answer had come.
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
    // As of the last commit: of the answer before, where the present one has begun since.
    Mark stored;
    std::unique_ptr<Answer> before;
  };

  static Mark MarkOf(const Answer& answer);
  static void GoBack(Answer& answer, const Mark& mark);
  // What of a piece was known before.
  static AddedAgentText Known(const Answer& answer, int64_t offset, const AgentText& piece);

  absl::StatusOr<Entry*> Find(AnsweringSession& session, const AgentText& piece, absl::Time now);
  absl::Status Feed(AnsweringSession& session, Answer& answer, absl::string_view text,
                    AddedAgentText& added, absl::Time now);
  absl::Status End(AnsweringSession& session, Answer& answer, absl::Time now);
  void OnCommit(const std::string& session_id, bool stored, absl::Time now);

  // That there is room for so many bytes of text more.
  absl::Status CheckRoom(const std::string& owner, size_t more, absl::Time now);

  const SessionLimits limits_;
  IdleMap<std::shared_ptr<Entry>> entries_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_ANSWERS_H_
