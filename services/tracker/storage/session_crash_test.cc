// A process that dies at any step of its work with the disk: acknowledged changes stay.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/status_macros.h"
#include "gmock/gmock.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_table_fixture.h"
#include "tracker/storage/crashing_disk.h"
#include "tracker/storage/event_log.h"

namespace callslip::tracker {
namespace {

using Within = CrashingDisk::Within;

// How the process ends.
struct Way {
  Within within;
  bool loses_power;
};

std::string NameOf(const testing::TestParamInfo<Way>& way) {
  static const char* const kNames[] = {"Before", "Half", "After"};
  return std::string(kNames[static_cast<int>(way.param.within)]) +
         (way.param.loses_power ? "PowerLost" : "Killed");
}

// The knowledge of the callers of a process that has ended.
struct Known {
  bool created = false;
  std::map<int64_t, std::string> events;  // Seq and type of acknowledged events.
  std::set<std::string> accepted;         // Messages that were added…
  std::set<std::string> gone;             // …and deleted.
  std::string maybe_gone;                 // Was to be deleted; it is not known whether it was.
  std::map<std::string, int> started;     // Turns that the runner was allowed to begin, by message.
};

class SessionCrashTest : public SessionTableTest, public ::testing::WithParamInterface<Way> {
 protected:
  // A session's work from its creation on: events; messages that are added, delivered, deleted; a
  // turn that fails and is tried again. Stops at the first call that fails.
  absl::Status Work(Known& known) {
    RETURN_IF_ERROR(Create("s1").status());
    known.created = true;
    known.events[1] = "session_start";
    RETURN_IF_ERROR(Note(known, AgentMessage{"hello"}));
    RETURN_IF_ERROR(AddNoted(known, "first"));
    RETURN_IF_ERROR(AddNoted(known, "second"));
    RETURN_IF_ERROR(AddNoted(known, "third"));
    const std::string third = Messages().back().id;
    known.maybe_gone = third;
    RETURN_IF_ERROR(Run([&](Session& s, absl::Time) { return s.DeleteMessage(third); }));
    known.maybe_gone.clear();
    known.gone.insert(third);
    const auto runner = std::make_shared<TestReceiver>();
    RETURN_IF_ERROR(Attach(runner));
    RETURN_IF_ERROR(Turn(known, *runner, {}));
    RETURN_IF_ERROR(Turn(known, *runner, {TurnEnd::kFailed, "rate_limited", "try later"}));
    absl::StatusOr<QueuedMessage> again = With<QueuedMessage>(
        [](Session& session, absl::Time now) { return session.RetryMessage(now); });
    RETURN_IF_ERROR(again.status());
    known.accepted.insert(again->id);
    RETURN_IF_ERROR(Turn(known, *runner, {}));
    return Run([](Session& session, absl::Time now) { return session.End("done", now); });
  }

  absl::Status Note(Known& known, const NewEvent& to_record) {
    const absl::StatusOr<EventPtr> event = Record(to_record);
    RETURN_IF_ERROR(event.status());
    known.events[(*event)->seq] = (*event)->type;
    return absl::OkStatus();
  }

  absl::Status AddNoted(Known& known, const std::string& text) {
    const absl::StatusOr<QueuedMessage> added = Add(text);
    RETURN_IF_ERROR(added.status());
    known.accepted.insert(added->id);
    return absl::OkStatus();
  }

  // The runner's part.
  absl::Status Turn(Known& known, TestReceiver& runner, const TurnOutcome& outcome) {
    // The message was handed over before the call that caused it was answered, or never will be.
    RETURN_IF_ERROR(Run([](Session&, absl::Time) { return absl::OkStatus(); }));
    if (runner.handed.size() == 0) return StorageFailed("nothing was handed over");
    const TestReceiver::Handed handed = runner.handed.Take();
    RETURN_IF_ERROR(StartTurn(handed.turn_id).status());
    ++known.started[handed.message.id];
    RETURN_IF_ERROR(Note(known, AgentMessage{"working on " + handed.message.message}));
    return FinishTurn(handed.turn_id, outcome);
  }

  std::map<std::string, int> PromptsInLog() {
    std::map<std::string, int> prompts;
    for (const EventPtr& event : ReadAll()) {
      if (event->type == "user_prompt") ++prompts[MemberOf(event, "queue_id")];
    }
    return prompts;
  }

  // Checks the session after the restart.
  void Check(const Known& known) {
    if (!table_->Get("s1").ok()) {
      EXPECT_FALSE(known.created);
      return;
    }
    std::map<int64_t, std::string> events;
    int64_t last = 0;
    for (const EventPtr& event : ReadAll()) {
      EXPECT_EQ(event->seq, last + 1);
      last = event->seq;
      events[event->seq] = event->type;
    }
    for (const auto& [seq, type] : known.events) EXPECT_EQ(events[seq], type) << seq;
    EXPECT_EQ(table_->Get("s1")->max_seq, last);
    EXPECT_EQ(table_->Get("s1")->event_count, static_cast<int64_t>(events.size()));

    std::set<std::string> queued;
    for (const QueuedMessage& message : Messages()) queued.insert(message.id);
    std::map<std::string, int> prompts = PromptsInLog();
    for (const std::string& id : known.accepted) {
      if (id == known.maybe_gone && !queued.contains(id)) continue;
      EXPECT_EQ(queued.count(id) + known.gone.count(id) + static_cast<size_t>(prompts[id]), 1u)
          << id;
    }
    for (const auto& [id, count] : known.started) {
      EXPECT_EQ(count, 1);
      EXPECT_EQ(prompts[id], 1);
    }
  }

  // After the restart the rest is delivered: each message has its turn once, in both processes
  // together.
  void Deliver(Known& known) {
    if (!known.created || table_->Get("s1")->state != SessionState::kActive) return;
    const auto runner = std::make_shared<TestReceiver>();
    EXPECT_OK(Attach(runner));
    for (int i = 0; i < 10; ++i) {
      const SessionSnapshot snapshot = Snapshot();
      if (snapshot.queue.pause.has_value()) {
        // Because of a turn that was lost with its runner, or that failed before. Its message is
        // not repeated.
        EXPECT_OK(Run([](Session& session, absl::Time) { return session.ResumeQueue(); }));
      }
      if (!Turn(known, *runner, {}).ok()) break;
    }
    EXPECT_TRUE(Messages().empty());
    const std::map<std::string, int> prompts = PromptsInLog();
    for (const auto& [id, count] : prompts) EXPECT_EQ(count, 1) << id;
    for (const auto& [id, count] : known.started) EXPECT_EQ(count, 1) << id;
    for (const std::string& id : known.accepted) {
      if (id == known.maybe_gone) continue;
      EXPECT_EQ(prompts.count(id) + known.gone.count(id), 1u) << id;
    }
  }
};

TEST_P(SessionCrashTest, AcknowledgedChangesSurviveCrashAtEveryStep) {
  const auto [within, loses_power] = GetParam();
  threads_ = 1;
  for (int64_t step = 0; step < 10'000; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    Close();
    std::filesystem::remove_all(folder_.path() + "/sessions");
    std::filesystem::create_directory(folder_.path() + "/sessions");
    CrashingDisk disk(step, within);
    Known known;
    Reopen(&disk);
    const absl::Status worked = Work(known);
    Close();
    if (loses_power) disk.LosePower();
    Reopen();
    Check(known);
    Deliver(known);
    if (HasFailure() || !disk.crashed()) {
      EXPECT_OK(worked);
      EXPECT_GT(step, 50);
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, SessionCrashTest,
                         testing::Values(Way{Within::kBefore, false}, Way{Within::kHalf, false},
                                         Way{Within::kAfter, false}, Way{Within::kBefore, true},
                                         Way{Within::kHalf, true}, Way{Within::kAfter, true}),
                         NameOf);

using SessionTornLogTest = SessionTableTest;

TEST_F(SessionTornLogTest, TruncatedLogKeepsWholeEventsAndReusesNoSeq) {
  threads_ = 1;
  Reopen();
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Record(UserPrompt{.message = "what is the status?", .prompt_id = "p1"}));
  const auto before = std::filesystem::file_size(PathOf("events.jsonl"));
  ASSERT_OK(Record(ToolCall{"call-1", "run \"ls\"\n", "pending", "execute"}));
  Close();
  const auto whole = std::filesystem::file_size(PathOf("events.jsonl"));
  std::ifstream in(PathOf("events.jsonl"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};

  std::ifstream metadata_in(PathOf("metadata.json"), std::ios::binary);
  const std::string metadata_bytes{std::istreambuf_iterator<char>(metadata_in), {}};

  for (uintmax_t size = 0; size <= whole; ++size) {
    SCOPED_TRACE(testing::Message() << "cut at byte " << size);
    Close();
    std::ofstream(PathOf("events.jsonl"), std::ios::binary) << bytes.substr(0, size);
    // Without metadata, and with those of the whole log, which count the lost events.
    const bool is_known = size % 2 == 1;
    std::ofstream(PathOf("metadata.json"), std::ios::binary) << (is_known ? metadata_bytes : "");
    Reopen();
    const auto whole_lines = static_cast<size_t>(
        std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
    const bool has_gap = is_known && whole_lines < 3;
    const size_t complete = whole_lines + (has_gap ? 1 : 0);
    ASSERT_OK_AND_ASSIGN(const SessionMetadata metadata, table_->Get("s1"));
    EXPECT_EQ(metadata.event_count, static_cast<int64_t>(complete));
    EXPECT_EQ(metadata.acp_server, whole_lines > 0 ? "claude" : metadata.acp_server);
    EXPECT_EQ(ReadAll().size(), complete);
    ASSERT_OK_AND_ASSIGN(const EventPtr added, Record(AgentMessage{"next"}));
    EXPECT_EQ(added->seq, has_gap ? 5 : static_cast<int64_t>(complete) + 1);
    EXPECT_EQ(ReadAll().size(), complete + 1);
    EXPECT_EQ(*ReadAll().back(), *added);
    if (HasFailure()) return;
  }
  EXPECT_LT(before, whole);
}

}  // namespace
}  // namespace callslip::tracker
