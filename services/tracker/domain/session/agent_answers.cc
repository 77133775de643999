#include "tracker/domain/session/agent_answers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

// Kind of a tool that runs something, in the agents' protocol.
constexpr char kToolKind[] = "execute";

// A byte of UTF-8 that is not the first one of its character.
bool IsWithinCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

absl::Status Check(const SessionMetadata& session, const AgentText& piece) {
  if (session.state != SessionState::kActive) return SessionEnded(session.session_id);
  if (piece.iteration < 0) return InvalidField("iteration", "is negative");
  if (piece.offset.value_or(0) < 0) return InvalidField("offset", "is negative");
  return CheckSize("text", piece.text, kMaxAgentTextBytes);
}

}  // namespace

std::optional<StreamedText> AgentAnswers::Text(const std::string& session_id) const {
  const auto* const known = entries_.Peek(session_id);
  if (known == nullptr) return std::nullopt;
  const Answer& answer = (*known)->present;
  if (answer.ended || answer.text.empty()) return std::nullopt;
  size_t start = answer.text.size() - std::min(answer.text.size(), kMaxStreamedBytes);
  while (start < answer.text.size() && IsWithinCharacter(answer.text[start])) ++start;
  return StreamedText{.iteration = answer.detector.iteration(),
                      .offset = static_cast<int64_t>(start),
                      .text = answer.text.substr(start)};
}

absl::StatusOr<AddedAgentText> AgentAnswers::Add(AnsweringSession& session, const AgentText& piece,
                                                 absl::Time now) {
  RETURN_IF_ERROR(Check(session.metadata(), piece));
  ASSIGN_OR_RETURN(Entry* const entry, Find(session, piece, now));
  Answer& answer = entry->present;
  const int64_t present = answer.detector.iteration();
  const bool is_over = piece.iteration == present && answer.ended;
  if (piece.iteration < present || (is_over && !piece.offset.has_value())) {
    return InvalidField("iteration", absl::StrCat("has to be above ", present - !answer.ended,
                                                  ": it counts on over the whole session"));
  }
  if (is_over) return Known(answer, *piece.offset, piece);
  const int64_t known = piece.iteration == present ? answer.length : 0;
  const int64_t offset = piece.offset.value_or(known);
  if (offset > known) return AnswerGap(known, offset);
  const auto size = static_cast<int64_t>(piece.text.size());
  const absl::string_view fresh =
      absl::string_view(piece.text).substr(static_cast<size_t>(std::min(known - offset, size)));
  // The known part of an answer must always be valid text.
  if (!fresh.empty() && IsWithinCharacter(fresh.front())) {
    return InvalidField("offset", "is where what is known ends within a character");
  }
  const auto bytes = static_cast<size_t>(std::max(known, offset + size));
  if (bytes > kMaxEventBytes) return EventTooLarge(bytes, kMaxEventBytes);
  RETURN_IF_ERROR(CheckRoom(entry->owner, bytes - static_cast<size_t>(known), now));

  session.AfterCommit([this, id = session.metadata().session_id, now](const absl::Status& status) {
    OnCommit(id, status.ok(), now);
  });
  if (piece.iteration > present) {
    // An answer that is too long to be recorded must not stop the agent.
    if (absl::Status ended = End(session, answer, now); absl::IsUnavailable(ended)) return ended;
    if (entry->before == nullptr) entry->before = std::make_unique<Answer>(std::move(answer));
    answer = Answer(piece.iteration);
  }
  const Mark before = MarkOf(answer);
  AddedAgentText added = Known(answer, offset, piece);
  absl::Status fed = Feed(session, answer, fresh, added, now);
  if (fed.ok() && piece.end) fed = End(session, answer, now);
  if (!fed.ok()) {
    GoBack(answer, before);
    return fed;
  }
  // An answer that has ended is an event.
  if (!answer.ended && !fresh.empty()) {
    session.ShowText({piece.iteration, known, std::string(fresh)});
  }
  added.length = answer.length;
  return added;
}

AddedAgentText AgentAnswers::Known(const Answer& answer, int64_t offset, const AgentText& piece) {
  const int64_t end = offset + static_cast<int64_t>(piece.text.size());
  // The length of an answer that ended before a restart is no longer known.
  AddedAgentText known{.length = std::max(answer.length, answer.ended ? end : 0)};
  for (const Found& found : answer.found) {
    if (found.end > offset && found.end <= end) {
      known.commands.push_back({found.command, found.seq, /*is_new=*/false});
    }
  }
  return known;
}

absl::StatusOr<AgentAnswers::Entry*> AgentAnswers::Find(AnsweringSession& session,
                                                        const AgentText& piece, absl::Time now) {
  const std::string& id = session.metadata().session_id;
  if (auto* known = entries_.Use(id, now); known != nullptr) return known->get();
  const RecordedAnswer& recorded = session.recorded_answer();
  Answer answer(recorded.iteration() < 0 ? piece.iteration : recorded.iteration());
  answer.ended = recorded.ended();
  answer.started = static_cast<int64_t>(recorded.commands().size());
  // A piece without an offset continues, with commands that were not reported before.
  if (!piece.offset.has_value()) answer.detector.SkipTo(answer.started);
  const auto entry = std::make_shared<Entry>(std::move(answer), session.metadata().owner);
  // Ended answers are remembered while there is room.
  const auto of_owner = [&] {
    size_t count = 0;
    entries_.ForEach(now, [&](const auto& other) { count += other->owner == entry->owner; });
    return count;
  };
  if (of_owner() >= limits_.agent_answers_of_client) {
    entries_.RemoveOldest(
        [&](const auto& other) { return other->stored.ended && other->owner == entry->owner; });
  }
  if (of_owner() >= limits_.agent_answers_of_client) {
    return TooManyAnswers(limits_.agent_answers_of_client, true);
  }
  auto* added = entries_.Add(id, entry, now);
  if (added == nullptr) {
    entries_.RemoveOldest([](const auto& other) { return other->stored.ended; });
    added = entries_.Add(id, entry, now);
  }
  if (added == nullptr) return TooManyAnswers(limits_.agent_answers, false);
  return entry.get();
}

absl::Status AgentAnswers::CheckRoom(const std::string& owner, size_t more, absl::Time now) {
  size_t of_all = more;
  size_t of_owner = more;
  entries_.ForEach(now, [&](const auto& entry) {
    const size_t bytes =
        entry->present.text.size() + (entry->before == nullptr ? 0 : entry->before->text.size());
    of_all += bytes;
    if (entry->owner == owner) of_owner += bytes;
  });
  if (of_all > limits_.agent_text_bytes) return TooManyAnswerBytes(limits_.agent_text_bytes, false);
  if (of_owner <= limits_.agent_text_bytes_of_client) return absl::OkStatus();
  return TooManyAnswerBytes(limits_.agent_text_bytes_of_client, true);
}

absl::Status AgentAnswers::Feed(AnsweringSession& session, Answer& answer, absl::string_view text,
                                AddedAgentText& added, absl::Time now) {
  while (!text.empty()) {
    // A command ends with its tag.
    const absl::string_view part = text.substr(0, std::min(text.find('>'), text.size() - 1) + 1);
    text.remove_prefix(part.size());
    answer.text.append(part.data(), part.size());
    answer.length += static_cast<int64_t>(part.size());
    for (ShellCommand& command : answer.detector.Feed(part)) {
      const int64_t index = answer.detector.next_index() - 1;
      const RecordedAnswer& recorded = session.recorded_answer();
      const bool is_recorded = recorded.iteration() == answer.detector.iteration() &&
                               index < static_cast<int64_t>(recorded.commands().size());
      int64_t seq = 0;
      if (is_recorded) {
        seq = recorded.commands()[static_cast<size_t>(index)];
      } else {
        ToolCall event{.tool_call_id = command.id,
                       .title = command.command,
                       .status = "queued",
                       .kind = kToolKind};
        ASSIGN_OR_RETURN(const EventPtr queued, session.Record(std::move(event), now));
        seq = queued->seq;
      }
      added.commands.push_back({command, seq, index >= answer.started});
      answer.found.push_back({std::move(command), seq, answer.length});
    }
  }
  return absl::OkStatus();
}

absl::Status AgentAnswers::End(AnsweringSession& session, Answer& answer, absl::Time now) {
  if (std::exchange(answer.ended, true) || answer.text.empty()) return absl::OkStatus();
  const RecordedAnswer& recorded = session.recorded_answer();
  const int64_t iteration = answer.detector.iteration();
  if (recorded.iteration() == iteration && recorded.ended()) return absl::OkStatus();
  return session.Record(AgentMessage{answer.text, iteration}, now).status();
}

AgentAnswers::Mark AgentAnswers::MarkOf(const Answer& answer) {
  return {answer.detector, answer.length, answer.found.size(), answer.ended};
}

void AgentAnswers::GoBack(Answer& answer, const Mark& mark) {
  answer.detector = mark.detector;
  answer.text.resize(std::min(answer.text.size(), static_cast<size_t>(mark.length)));
  answer.length = mark.length;
  answer.found.erase(answer.found.begin() + static_cast<std::ptrdiff_t>(mark.found),
                     answer.found.end());
  answer.ended = mark.ended;
}

void AgentAnswers::OnCommit(const std::string& session_id, bool stored, absl::Time now) {
  const auto* known = entries_.Use(session_id, now);
  if (known == nullptr) return;
  Entry& entry = **known;
  if (!stored) {
    if (entry.before != nullptr) entry.present = std::move(*std::exchange(entry.before, nullptr));
    return GoBack(entry.present, entry.stored);
  }
  entry.before = nullptr;
  entry.present.started = entry.present.detector.next_index();
  if (entry.present.ended) entry.present.text = std::string();
  entry.stored = MarkOf(entry.present);
}

}  // namespace callslip::tracker
