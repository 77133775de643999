#include "tracker/domain/session/agent_answers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

// As the agents' protocol calls a tool that runs something.
constexpr char kToolKind[] = "execute";

}  // namespace

absl::StatusOr<std::vector<ShellCommand>> AgentAnswers::Add(Session& session,
                                                            const AgentText& piece,
                                                            absl::Time now) {
  const SessionMetadata& metadata = session.metadata();
  if (metadata.state != SessionState::kActive) return SessionEnded(metadata.session_id);
  if (piece.iteration < 0) return InvalidField("iteration", "is negative");
  if (piece.text.size() > kMaxAgentTextBytes) {
    return InvalidField("text", absl::StrCat("is longer than ", kMaxAgentTextBytes, " bytes"));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<Answer> answer,
                   Find(metadata.session_id, piece.iteration, now));
  const int64_t present = answer->detector.iteration();
  if (piece.iteration < present || (piece.iteration == present && answer->ended)) {
    return InvalidField("iteration", absl::StrCat("has to be above ", present - !answer->ended,
                                                  ": it counts on over the whole session"));
  }
  if (piece.iteration > present) {
    RETURN_IF_ERROR(End(session, *answer, now));
    *answer = Answer(piece.iteration);
  }
  const size_t bytes = answer->text.size() + piece.text.size();
  if (bytes > kMaxEventBytes) return EventTooLarge(bytes, kMaxEventBytes);
  answer->text += piece.text;
  std::vector<ShellCommand> found = answer->detector.Feed(piece.text);
  for (const ShellCommand& command : found) {
    ToolCall event{.tool_call_id = command.id,
                   .title = command.command,
                   .status = "queued",
                   .kind = kToolKind};
    RETURN_IF_ERROR(session.Record(std::move(event), now).status());
  }
  if (piece.end) RETURN_IF_ERROR(End(session, *answer, now));
  return found;
}

absl::StatusOr<std::shared_ptr<AgentAnswers::Answer>> AgentAnswers::Find(
    const std::string& session_id, int64_t iteration, absl::Time now) {
  MutexLock lock(&mutex_);
  if (auto* known = answers_.Use(session_id, now); known != nullptr) return *known;
  auto answer = std::make_shared<Answer>(iteration);
  if (answers_.Add(session_id, answer, now) == nullptr) return TooManyAnswers(kMaxAgentAnswers);
  return answer;
}

absl::Status AgentAnswers::End(Session& session, Answer& answer, absl::Time now) {
  if (std::exchange(answer.ended, true)) return absl::OkStatus();
  AgentMessage event{std::exchange(answer.text, {})};
  if (event.text.empty()) return absl::OkStatus();
  return session.Record(std::move(event), now).status();
}

}  // namespace callslip::tracker
