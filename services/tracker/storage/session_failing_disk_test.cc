// A disk that fails at any of its steps, reads included, under a tracker that goes on: acknowledged
// changes stay, no client becomes the owner of another one's session, and no session affects
// another one.

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gmock/gmock.h"
#include "tracker/domain/session/session_table_fixture.h"
#include "tracker/storage/failing_disk.h"

namespace callslip::tracker {
namespace {

namespace fs = std::filesystem;

// The answers that the callers have got.
struct Told {
  std::map<std::string, std::string> owners;                    // Of sessions, by their ids.
  std::map<std::string, std::map<int64_t, std::string>> texts;  // By session and seq.
  std::set<std::string> messages;                               // Of the queue, by id.
  std::map<std::string, int> commands;  // Number of times that one was to be run, by id.
};

// The parameter is the number of steps that fail in a row.
class SessionFailingDiskTest : public SessionTableTest, public testing::WithParamInterface<int> {
 protected:
  SessionFailingDiskTest() {
    // Sessions are loaded again after each call to another one.
    threads_ = 1;
    limits_.idle_sessions = 0;
    limits_.open_files = 0;
  }
  ~SessionFailingDiskTest() override { Close(); }

  // Repeats a call more often than the disk fails.
  template <typename Call>
  static auto Again(Call call) {
    auto result = call();
    for (int i = 0; i < 5 && !result.ok(); ++i) result = call();
    EXPECT_OK(result);
    return result;
  }

  void Say(const std::string& text, const std::string& id, Told& told) {
    const absl::StatusOr<EventPtr> event = Record(AgentMessage{text}, id);
    if (event.ok()) told.texts[id][(*event)->seq] = text;
  }
  void Queue(const std::string& text, Told& told) {
    const absl::StatusOr<QueuedMessage> added = Add(text);
    if (added.ok()) told.messages.insert(added->id);
  }
  // Repeats a piece of the first session's answer until it is accepted.
  void Stream(int64_t offset, const std::string& text, bool end, Told& told) {
    const auto added = Again([&] {
      return With<AddedAgentText>([&](Session& session, absl::Time now) {
        return session.AddAgentText({.offset = offset, .text = text, .end = end}, now);
      });
    });
    if (!added.ok()) return;
    for (const AgentCommand& command : added->commands) {
      told.commands[command.command.id] += command.is_new ? 1 : 0;
    }
  }

  void Work(Told& told) {
    told.owners = {{"s1", "ann"}, {"s2", "bob"}};
    for (const auto& made : told.owners) {
      // A session that could not be created is created again.
      (void)Again(
          [&] { return Create(SessionRequest{.session_id = made.first, .owner = made.second}); });
    }
    for (const char* text : {"one", "two"}) {
      Say(text, "s1", told);
      Say(text, "s2", told);
      Queue(text, told);
    }
    Stream(0, "<shell>ls</shell>", false, told);
    Stream(17, "<shell>id</shell>", false, told);
    (void)Again([&] { return Run([](Session& s, absl::Time now) { return s.Rename("n", now); }); });
    Stream(34, ".", true, told);
    (void)With<int64_t>(
        [](Session& session, absl::Time) { return session.Prune({.max_events = 2}); }, "s2");
    Say("three", "s2", told);
    (void)Read({}, "s2");
  }

  void Check(const Told& told) {
    EXPECT_EQ(table_->List({.clients = kDefaultClient}, 0, "")->sessions.size(), 0u);
    for (const auto& [id, owner] : told.owners) {
      std::map<int64_t, std::string> texts;
      std::map<std::string, int> calls;
      std::map<std::string, int> times;
      int64_t last = 0;
      for (const EventPtr& event : ReadAll(id)) {
        EXPECT_GT(event->seq, last);
        last = event->seq;
        if (event->type == "agent_message") {
          const std::string text = MemberOf(event, "text");
          texts[event->seq] = text;
          EXPECT_EQ(++times[text], 1) << text;
        }
        if (event->type == "tool_call") ++calls[MemberOf(event, "tool_call_id")];
      }
      EXPECT_EQ(table_->Get(id)->owner, owner);
      EXPECT_EQ(table_->Get(id)->damage, "");
      const auto& said = told.texts.at(id);
      for (const auto& [seq, text] : said) {
        const bool may_be_pruned = id == "s2" && seq != said.rbegin()->first;
        if (may_be_pruned && texts.count(seq) == 0) continue;
        EXPECT_EQ(texts[seq], text) << id << " " << seq;
      }
      if (id == "s2") continue;
      EXPECT_EQ(times["<shell>ls</shell><shell>id</shell>."], 1);
      EXPECT_EQ(calls, (std::map<std::string, int>{{"cmd-0-0", 1}, {"cmd-0-1", 1}}));
      EXPECT_EQ(table_->Get(id)->name, "n");
    }
    EXPECT_EQ(told.commands, (std::map<std::string, int>{{"cmd-0-0", 1}, {"cmd-0-1", 1}}));
    std::multiset<std::string> queued;
    for (const QueuedMessage& message : Messages()) queued.insert(message.id);
    for (const std::string& id : told.messages) EXPECT_EQ(queued.count(id), 1u);
  }

  absl::Status Open() {
    Close();
    ASSIGN_OR_RETURN(storage_, FileSessionStorage::Open(folder_.path(), &failing_));
    ASSIGN_OR_RETURN(table_, SessionTable::Open(storage_.get(), &clock_, limits_, defaults_, 1));
    return absl::OkStatus();
  }

  void Empty() {
    Close();
    fs::remove_all(folder_.path() + "/sessions");
  }

  FailingDisk failing_;
};

TEST_P(SessionFailingDiskTest, AcknowledgedChangesSurviveFailureAtEveryStep) {
  int64_t step = 0;
  for (;; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    Empty();
    ASSERT_OK(Open());
    const int64_t before = failing_.failures();
    failing_.Fail(step, GetParam());
    Told told;
    Work(told);
    const bool has_failed = failing_.failures() > before;
    failing_.Fail(0, 0);
    Check(told);
    ASSERT_OK(Open());
    Check(told);
    if (HasFailure() || !has_failed) break;
  }
  EXPECT_GT(step, 150);
}

TEST_P(SessionFailingDiskTest, SessionsSurviveFailureAtEveryStepOfStart) {
  ASSERT_OK(Open());
  Told told;
  Work(told);
  Create(SessionRequest{.session_id = "s3", .owner = "eve"}).IgnoreError();
  Close();
  // Files as a crash leaves them, and a stray file.
  std::ofstream(PathOf("events.jsonl"), std::ios::app) << "{\"seq\":99";
  std::ofstream(PathOf("metadata.json", "s3")) << "{\"session_id";
  fs::create_directory(folder_.path() + "/sessions/.new-x");
  std::ofstream(folder_.path() + "/sessions/notes") << "stray";
  const TemporaryFolder saved;
  fs::copy(folder_.path() + "/sessions", saved.path() + "/sessions", fs::copy_options::recursive);

  int64_t step = 0;
  int refused = 0;
  for (;; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    Empty();
    fs::copy(saved.path() + "/sessions", folder_.path() + "/sessions", fs::copy_options::recursive);
    const int64_t before = failing_.failures();
    failing_.Fail(step, GetParam());
    const absl::Status opened = Open();
    const bool has_failed = failing_.failures() > before;
    failing_.Fail(0, 0);
    if (!opened.ok()) {
      ++refused;
      ASSERT_OK(Open());
    }
    // The stray file is not a session, once it can be read.
    EXPECT_THAT(Record(AgentMessage{"x"}, "notes"), kUnknown);
    EXPECT_EQ(table_->sessions(), 3u);
    Check(told);
    EXPECT_OK(Record(AgentMessage{"on"}, "s3"));
    EXPECT_EQ(table_->Get("s3")->owner, "eve");
    ASSERT_OK(Open());
    Check(told);
    if (HasFailure() || !has_failed) break;
  }
  EXPECT_GT(step, 15);
  // If the folder of all sessions can't be read, the table is not opened.
  if (GetParam() == 1) {
    EXPECT_EQ(refused, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Failures, SessionFailingDiskTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace callslip::tracker
