// Rights of a session's agent in other sessions, over the real listener.
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "support/session_events.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;

// parent ─ own ─ child; parent ─ sibling ─ nephew; and stranger, which no agent has created.
class AgentRightsTest : public SessionServerTest {
 protected:
  AgentRightsTest() {
    serving_ = Serve(
        "runner_id: 'r' max_agents: 2 agents { name: 'claude' children: 'boxed' } "
        "agents { name: 'boxed' } agents { name: 'codex' } "
        "workspaces { name: 'web' dir: '/web' } "
        "workspaces { name: 'lax' dir: '/lax' children_in: 'web' }");
    EXPECT_TRUE(serving_->Next()->has_started());
    Make("parent", "");
    Make("own", "parent");
    Make("sibling", "parent");
    Make("child", "own");
    Make("nephew", "sibling");
    Make("stranger", "");
  }

  void Make(const std::string& id, const std::string& parent, const std::string& dir = "/web/app") {
    ASSERT_OK(
        Call(&S::CreateSession, absl::StrCat("session_id: '", id, "' parent_session_id: '", parent,
                                             "' acp_server: 'claude' working_dir: '", dir, "' ",
                                             parent.empty() ? "" : "detached: true")));
    ASSERT_OK(Call(&S::AskPermission,
                   absl::StrCat("session_id: '", id, "' permission_id: 'p' title: 'rm?' ",
                                "options { option_id: 'yes' kind: 'allow_once' } ",
                                "options { option_id: 'no' kind: 'reject_once' }")));
  }
  // Gives the session to the runner.
  void Begin(const std::string& id) {
    ASSERT_OK(Call(&Q::AddMessage, "session_id: '" + id + "' message: 'm'"));
    EXPECT_EQ(serving_->Next()->session().session_id(), id);
    ASSERT_OK(Call(&Q::ClearMessages, "session_id: '" + id + "'"));
  }
  // The result of each action of the agent of `own` in the session `id`.
  std::map<std::string, absl::Status> Try(const std::string& id) {
    const std::string by = absl::StrCat("session_id: '", id, "' by_session_id: 'own' ");
    std::map<std::string, absl::Status> told;
    told["write"] = Call(&Q::AddMessage, by + "message: 'm'").status();
    told["write now"] = Call(&Q::AddMessage, by + "message: 'm' now: true").status();
    told["allow"] = Call(&S::AnswerPermission, by + "permission_id: 'p' option_id: 'yes'").status();
    told["reject"] = Call(&S::AnswerPermission, by + "permission_id: 'p' option_id: 'no'").status();
    told["stop"] = Call(&Q::StopTurn, by).status();
    told["end"] = Call(&S::EndSession, by + "reason: 'r'").status();
    return told;
  }

  std::unique_ptr<StreamReader<v1::Assignment>> serving_;
};

TEST_F(AgentRightsTest, AgentWritesToRelatedSessionsAndControlsItsChildren) {
  Begin("own");
  for (const std::string id : {"stranger", "sibling", "nephew", "parent", "own", "child"}) {
    const bool may_write = id == "parent" || id == "own" || id == "child";
    const bool may_control = id == "child";
    for (const auto& [what, told] : Try(id)) {
      SCOPED_TRACE(absl::StrCat(what, " ", id));
      if (what == "allow" && may_control) {
        EXPECT_THAT(told, FailsWith(StatusCode::kFailedPrecondition, "person_decides"));
      } else if (what.starts_with("write")) {
        if (may_write && what == "write now") {
          // No runner can take it.
          EXPECT_THAT(told, FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
        } else if (may_write) {
          EXPECT_OK(told);
        } else {
          EXPECT_THAT(told, FailsWith(StatusCode::kFailedPrecondition, "not_related"));
        }
      } else if (may_control) {
        EXPECT_OK(told);
      } else {
        EXPECT_THAT(told, FailsWith(StatusCode::kFailedPrecondition, "not_a_child"));
      }
    }
    // A refused call has changed nothing.
    if (!may_control) {
      EXPECT_EQ(Call(&S::GetSession, "session_id: '" + id + "'")->end_reason(), "");
      EXPECT_EQ(Call(&S::ListPermissions, "session_id: '" + id + "'")->permissions_size(), 1);
    }
    const auto messages = Call(&Q::ListMessages, "session_id: '" + id + "'");
    EXPECT_EQ(messages->messages_size(), may_write ? 1 : 0) << id;
    for (const v1::QueuedMessage& message : messages->messages()) {
      EXPECT_EQ(message.client_id(), "session-own");
    }
  }
}

TEST_F(AgentRightsTest, AgentsAnswerIsRecordedAsAgentsEvenIfItClaimsOtherwise) {
  ASSERT_OK(Call(&S::AnswerPermission,
                 "session_id: 'child' by_session_id: 'own' permission_id: 'p' option_id: 'no' "
                 "decided_by: 'person'"));
  const auto page = Call(&S::ReadEvents, "session_id: 'child' type: 'permission'");
  EXPECT_EQ(MemberOf(page->events(0), "decided_by"), "agent");
}

TEST_F(AgentRightsTest, AgentCreatesChildrenOfItsSessionWhereARunnerAllowsIt) {
  // The parent that the call names does not count.
  const std::string by =
      "by_session_id: 'own' parent_session_id: 'stranger' working_dir: '/web/app' ";
  const auto child = Call(&S::CreateSession, by + "acp_server: 'claude'");
  ASSERT_OK(child);
  EXPECT_EQ(child->parent_session_id(), "own");
  EXPECT_OK(Call(&S::CreateSession, by + "acp_server: 'boxed'"));
  EXPECT_THAT(Call(&S::CreateSession, by + "acp_server: 'codex'"),
              FailsWith(StatusCode::kFailedPrecondition, "agent_not_allowed"));
  EXPECT_THAT(Call(&S::CreateSession, by + "acp_server: 'gemini'"),
              FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
  EXPECT_THAT(Call(&S::CreateSession, by), FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
  for (const char* dir : {"/lax", "/web"}) {
    EXPECT_THAT(
        Call(&S::CreateSession,
             absl::StrCat("by_session_id: 'own' acp_server: 'claude' working_dir: '", dir, "'")),
        FailsWith(StatusCode::kFailedPrecondition, "workspace_not_allowed"));
  }
  // A person may.
  EXPECT_OK(
      Call(&S::CreateSession, "parent_session_id: 'own' acp_server: 'codex' working_dir: '/lax'"));
}

// A parent executes the message of a child under its own rules.
TEST_F(AgentRightsTest, AgentCannotWriteToAParentWithLaxerRules) {
  Make("lax", "", "/lax");
  Make("strict", "lax");
  Begin("lax");
  Begin("strict");
  EXPECT_THAT(Call(&Q::AddMessage, "session_id: 'lax' by_session_id: 'strict' message: 'rm -rf /'"),
              FailsWith(StatusCode::kFailedPrecondition, "workspace_not_allowed"));
  EXPECT_OK(Call(&Q::AddMessage, "session_id: 'strict' by_session_id: 'lax' message: 'look'"));
}

TEST_F(AgentRightsTest, AgentOfAnEndedSessionCanDoNothing) {
  ASSERT_OK(Call(&S::EndSession, "session_id: 'own'"));
  for (const auto& [what, told] : Try("child")) {
    EXPECT_THAT(told, FailsWith(StatusCode::kFailedPrecondition, "session_ended")) << what;
  }
  EXPECT_THAT(
      Call(&S::CreateSession, "by_session_id: 'own' acp_server: 'claude' working_dir: '/web/app'"),
      FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
}

TEST_F(AgentRightsTest, IdOfADeletedParentIsReservedWhileItHasChildren) {
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 'own'"));
  const std::string again = "session_id: 'own' acp_server: 'claude' working_dir: '/web/app'";
  EXPECT_THAT(Call(&S::CreateSession, again),
              FailsWith(StatusCode::kAlreadyExists, "session_exists"));
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 'child'"));
  EXPECT_OK(Call(&S::CreateSession, again));
}

// A child that a person has created may have other rules.
TEST_F(AgentRightsTest, AgentCannotWriteToAChildItCouldNotHaveCreated) {
  Make("codex", "own", "/lax");
  Begin("own");
  EXPECT_THAT(Call(&Q::AddMessage, "session_id: 'codex' by_session_id: 'own' message: 'm'"),
              FailsWith(StatusCode::kFailedPrecondition, "workspace_not_allowed"));
}

TEST_F(AgentRightsTest, AgentCannotWriteWhileItsSessionHasNoRunner) {
  for (const std::string id : {"parent", "own", "child"}) {
    EXPECT_THAT(Call(&Q::AddMessage, "session_id: '" + id + "' by_session_id: 'own' message: 'm'"),
                FailsWith(StatusCode::kUnavailable, "runner_away"))
        << id;
  }
}

// Another runner may have laxer rules.
TEST_F(AgentRightsTest, MessageOfAnAgentIsOnlyForItsRunner) {
  Begin("own");
  for (const std::string id : {"parent", "own"}) {
    ASSERT_OK(Call(&Q::PauseQueue, "session_id: '" + id + "'"));
    ASSERT_OK(Call(&Q::AddMessage, "session_id: '" + id + "' by_session_id: 'own' message: 'm'"));
  }
  serving_ = nullptr;
  Stop(absl::ZeroDuration());
  Start();
  const auto other = Serve(
      "runner_id: 'other' max_agents: 9 agents { name: 'claude' } "
      "workspaces { name: 'web' dir: '/web' }");
  EXPECT_TRUE(other->Next()->has_started());
  for (const std::string id : {"parent", "own"}) {
    ASSERT_OK(Call(&Q::ResumeQueue, "session_id: '" + id + "'"));
    EXPECT_THAT(
        Call(&R::ControlAgent, "session_id: '" + id + "' control { action: AGENT_ACTION_START }"),
        FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
  }
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 'parent' message: 'm'"));
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 'stranger' message: 'm'"));
  ASSERT_EQ(other->Next()->session().session_id(), "stranger");
  // Once a person has deleted the message, other runners may have the session.
  const auto written = Call(&Q::ListMessages, "session_id: 'parent'");
  ASSERT_OK(Call(&Q::DeleteMessage, absl::StrCat("session_id: 'parent' message_id: '",
                                                 written->messages(0).message_id(), "'")));
  EXPECT_EQ(other->Next()->session().session_id(), "parent");
}

TEST_F(AgentRightsTest, RulesOfItsCreatorApplyToAChildAfterARestart) {
  const auto child =
      Call(&S::CreateSession, "by_session_id: 'own' acp_server: 'boxed' working_dir: '/web/app'");
  ASSERT_OK(child);
  const std::string id = child->session_id();
  ASSERT_OK(Call(&Q::AddMessage, "session_id: '" + id + "' message: 'm'"));
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 'stranger' message: 'm'"));
  serving_ = nullptr;
  Stop(absl::ZeroDuration());
  Start();
  // The first runner does not allow the child, whatever else it serves.
  const auto serve = [this](const std::string& runner, const std::string& children) {
    auto serving =
        Serve("runner_id: '" + runner + "' max_agents: 9 agents { name: 'claude' " + children +
              "} agents { name: 'boxed' } workspaces { name: 'web' dir: '/web' }");
    EXPECT_TRUE(serving->Next()->has_started());
    return serving;
  };
  const auto first = serve("first", "");
  EXPECT_EQ(first->Next()->session().session_id(), "stranger");
  // Another runner, which might allow it, gets it only after the session of its maker.
  const auto second = serve("second", "children: 'boxed' ");
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 'own' message: 'm'"));
  // Of two sessions, each on a thread of its own, either may be first.
  EXPECT_THAT(
      (std::vector{second->Next()->session().session_id(), second->Next()->session().session_id()}),
      testing::UnorderedElementsAre("own", id));
}

}  // namespace
}  // namespace callslip::tracker
