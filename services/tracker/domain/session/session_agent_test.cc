// The state of a session's agent, and the sessions that need their agent.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SessionAgentTest : public SessionTableTest {
 protected:
  struct Listener final : public AgentNeedsListener {
    void OnNeeded(const SessionMetadata& session) override {
      told.Put("needed " + session.session_id);
    }
    void OnEnded(const SessionMetadata& session) override {
      told.Put("ended " + session.session_id);
    }
    void OnDeleted(const std::string& id) override { told.Put("deleted " + id); }
    Inbox<std::string> told;
  };

  ~SessionAgentTest() override { Close(); }

  absl::Status Set(AgentChange change) {
    return Run([&](Session& s, absl::Time now) { return s.SetAgentState(change, now); });
  }
  AgentStatus Listed() { return table_->Get("s1")->agent.status; }
  std::vector<std::string> ThatNeed() {
    std::vector<std::string> ids;
    for (const SessionMetadata& session : table_->ThatNeedAgent()) {
      ids.push_back(session.session_id);
    }
    return ids;
  }
  std::string MetadataFile() { return *disk_.ReadFile(PathOf("metadata.json"), size_t{1} << 20); }

  Listener listener_;
};

TEST_F(SessionAgentTest, AbsentFieldsStayUnchanged) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Set({.status = AgentStatus::kFailed,
                 .reason = "agent_crashed",
                 .message = "it is gone",
                 .runner_id = "r",
                 .agent_session_id = "a-1",
                 .details = R"({"modes":[]})"}));
  clock_.Advance(absl::Seconds(1));
  ASSERT_OK(Set({.status = AgentStatus::kStarting, .reason = ""}));
  const AgentState agent = Snapshot().metadata.agent;
  EXPECT_EQ(agent.status, AgentStatus::kStarting);
  EXPECT_EQ(agent.reason, "");
  EXPECT_EQ(agent.message, "it is gone");
  EXPECT_EQ(agent.runner_id, "r");
  EXPECT_EQ(agent.agent_session_id, "a-1");
  EXPECT_EQ(agent.details.str(), R"({"modes":[]})");
  EXPECT_EQ(agent.updated_at, clock_.Now());
}

TEST_F(SessionAgentTest, TextsAreTruncatedAndOtherFieldsAreValidated) {
  ASSERT_OK(Create("s1"));
  // Characters of two bytes after the first one, so that the limits fall into a character.
  std::string umlauts = "x";
  while (umlauts.size() <= 2 * kMaxReasonTextBytes) umlauts += "ä";
  ASSERT_OK(Set({.reason = umlauts, .message = umlauts}));
  EXPECT_EQ(Snapshot().metadata.agent.reason, umlauts.substr(0, kMaxReasonBytes - 1));
  EXPECT_EQ(Snapshot().metadata.agent.message, umlauts.substr(0, kMaxReasonTextBytes - 1));
  EXPECT_THAT(Set({.agent_session_id = std::string(kMaxAgentSessionIdBytes + 1, 'a')}), kInvalid);
  EXPECT_OK(Set({.agent_session_id = std::string(kMaxAgentSessionIdBytes, 'a')}));
  for (const std::string& details :
       {std::string("[]"), std::string("{"), std::string(kMaxAgentDetailsBytes + 1, ' ')}) {
    EXPECT_THAT(Set({.details = details}), kInvalid);
  }
  const std::string most = R"({"a":")" + std::string(kMaxAgentDetailsBytes - 8, 'x') + R"("})";
  ASSERT_OK(Set({.details = most}));
  Reopen();
  EXPECT_EQ(Snapshot().metadata.agent.details.str(), most);
}

TEST_F(SessionAgentTest, RunnerAndDetailsSurviveRestartButStatusDoesNot) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Set({.status = AgentStatus::kIdle,
                 .reason = "r",
                 .message = "m",
                 .runner_id = "r-1",
                 .agent_session_id = "a-1",
                 .details = R"({"modes":[]})",
                 .token_hash = "abc"}));
  Reopen();
  EXPECT_EQ(table_->Get("s1")->agent.runner_id, "r-1");
  EXPECT_EQ(table_->Get("s1")->agent_token_hash, "abc");
  EXPECT_EQ(table_->Get("s1")->agent.details.str(), "");  // Too large for the data of all sessions.
  const AgentState agent = Snapshot().metadata.agent;
  EXPECT_EQ(agent, (AgentState{.runner_id = "r-1",
                               .agent_session_id = "a-1",
                               .details = SharedText(R"({"modes":[]})")}));
}

TEST_F(SessionAgentTest, ChangeToUnstoredFieldsWritesNothing) {
  CALLSLIP_ABOUT_FILES();
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Set({.status = AgentStatus::kIdle, .runner_id = "r", .details = "{}"}));
  const std::string before = MetadataFile();
  ASSERT_OK(disk_.RemoveFile(PathOf("metadata.json")));
  ASSERT_OK(Set({.status = AgentStatus::kStopped, .reason = "idle", .runner_id = "r"}));
  EXPECT_EQ(Listed(), AgentStatus::kStopped);
  EXPECT_FALSE(disk_.Look(PathOf("metadata.json"))->has_value());
  ASSERT_OK(Set({.agent_session_id = "a"}));
  EXPECT_NE(MetadataFile(), before);
}

TEST_F(SessionAgentTest, StateSurvivesUnloadingOfSession) {
  limits_.idle_sessions = 1;
  threads_ = 1;
  Reopen();
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Set({.status = AgentStatus::kFailed, .reason = "auth_required"}));
  for (const char* id : {"s2", "s3", "s4"}) ASSERT_OK(Create(id));
  EXPECT_EQ(Snapshot().metadata.agent.reason, "auth_required");
  EXPECT_EQ(Listed(), AgentStatus::kFailed);
}

TEST_F(SessionAgentTest, StatusIsDerivedFromTurnAndOpenPermissions) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Set({.status = AgentStatus::kNeedsPermission}));
  EXPECT_EQ(Listed(), AgentStatus::kIdle);
  ASSERT_OK(Add("go"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  EXPECT_EQ(Listed(), AgentStatus::kPrompting);
  EXPECT_EQ(table_->Get("s1")->queue.turn_id, turn);
  struct Asker final : public PermissionAsker {
    void OnAnswer(const absl::StatusOr<PermissionAnswer>&) override {}
  };
  ASSERT_OK(With<PermissionRequest>([](Session& s, absl::Time now) {
    return s.AskPermission({.id = "p", .title = "rm?", .options = {{"yes", "Yes", ""}}},
                           std::make_shared<Asker>(), now);
  }));
  EXPECT_EQ(Listed(), AgentStatus::kNeedsPermission);
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.AnswerPermission({"p", "yes"}, now); }));
  EXPECT_EQ(Listed(), AgentStatus::kPrompting);
  ASSERT_OK(FinishTurn(turn));
  EXPECT_EQ(Listed(), AgentStatus::kIdle);
}

TEST_F(SessionAgentTest, ObserversGetStateChangesWithDetails) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Set({.runner_id = "r", .details = R"({"a":1})"}));
  const auto feed = Subscribe(0);
  EXPECT_EQ(feed->NextOf<SessionSnapshot>().metadata.agent.details.str(), R"({"a":1})");
  ASSERT_OK(Set({.status = AgentStatus::kIdle}));
  const auto told = feed->NextOf<AgentState>();
  EXPECT_EQ(told.status, AgentStatus::kIdle);
  EXPECT_EQ(told.details.str(), R"({"a":1})");
}

TEST_F(SessionAgentTest, IsNeededWhenMessageOrTurnHasNoRunner) {
  table_->agent_needs().SetListener(&listener_);
  ASSERT_OK(Create("s1"));
  EXPECT_THAT(ThatNeed(), IsEmpty());
  ASSERT_OK(Run([](Session& s, absl::Time now) {
    s.PauseQueue("later", "", now);
    return absl::OkStatus();
  }));
  ASSERT_OK(Add("go"));
  EXPECT_THAT(ThatNeed(), IsEmpty());
  EXPECT_EQ(table_->Get("s1")->queue.length, 1u);
  ASSERT_OK(Run([](Session& s, absl::Time) { return s.ResumeQueue(); }));
  EXPECT_EQ(listener_.told.Take(), "needed s1");
  EXPECT_THAT(ThatNeed(), ElementsAre("s1"));
  Reopen();
  EXPECT_THAT(ThatNeed(), ElementsAre("s1"));
  EXPECT_EQ(table_->Get("s1")->queue.length, 1u);
  table_->agent_needs().SetListener(&listener_);
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  EXPECT_THAT(ThatNeed(), IsEmpty());
  ASSERT_OK(StartTurn(runner->handed.Take().turn_id));
  // A turn whose runner is gone is work as well.
  ASSERT_OK(Run([&](Session& s, absl::Time) {
    s.Detach(runner.get());
    return absl::OkStatus();
  }));
  EXPECT_EQ(listener_.told.Take(), "needed s1");
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("done", now); }));
  EXPECT_EQ(listener_.told.Take(), "ended s1");
  EXPECT_THAT(ThatNeed(), IsEmpty());
  ASSERT_OK(Delete("s1"));
  EXPECT_EQ(listener_.told.Take(), "deleted s1");
}

TEST_F(SessionAgentTest, DisabledQueueNeedsNoAgent) {
  defaults_.enabled = false;
  Reopen();
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Add("go"));
  EXPECT_THAT(ThatNeed(), IsEmpty());
  Reopen();
  EXPECT_THAT(ThatNeed(), IsEmpty());
  ASSERT_OK(Run([](Session& s, absl::Time) { return s.ConfigureQueue({.enabled = true}); }));
  EXPECT_THAT(ThatNeed(), ElementsAre("s1"));
  Reopen();
  EXPECT_THAT(ThatNeed(), ElementsAre("s1"));
}

TEST_F(SessionAgentTest, TurnWithEndInLogIsOverAfterCrash) {
  CALLSLIP_ABOUT_FILES();
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("go"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  const std::string in_turn = *disk_.ReadFile(PathOf("queue.json"), size_t{1} << 20);
  ASSERT_OK(FinishTurn(turn, {.end = TurnEnd::kCancelled,
                              .reason = "stopped",
                              .stop_reason = "max_tokens",
                              .usage = R"({"tokens":7})"}));
  EXPECT_EQ(TextOf(ReadAll().back()),
            R"(turn_end {"turn_id":")" + turn +
                R"(","outcome":"cancelled","reason":"stopped","stop_reason":"max_tokens",)"
                R"("usage":{"tokens":7}})");
  // As a crash between the log and the queue leaves it.
  Close();
  ASSERT_OK(disk_.ReplaceFile(folder_.path() + "/sessions/s1", "queue.json", in_turn));
  Reopen();
  EXPECT_FALSE(Snapshot().turn.has_value());
  EXPECT_EQ(Snapshot().queue.pause->reason, "stopped");
}

TEST_F(SessionAgentTest, TurnContinuesWhenUsageIsInvalid) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("go"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  EXPECT_THAT(FinishTurn(turn, {.usage = "7"}), kInvalid);
  EXPECT_THAT(FinishTurn(turn, {.usage = std::string(kMaxUsageBytes + 1, ' ')}), kInvalid);
  EXPECT_TRUE(Snapshot().turn.has_value());
}

}  // namespace
}  // namespace callslip::tracker
