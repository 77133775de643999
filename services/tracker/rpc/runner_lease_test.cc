// Calls of a runner whose lease is over, over the real listener.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tracker/domain/runner/runner_limits.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;

class RunnerLeaseTest : public SessionServerTest {
 protected:
  using Way = std::function<absl::Status(const std::string& by)>;

  RunnerLeaseTest() {
    EXPECT_OK(Call(&S::CreateSession, "session_id: 's' acp_server: 'claude' working_dir: '/web'"));
  }

  std::unique_ptr<StreamReader<v1::Assignment>> Begin(const std::string& id) {
    auto serving = Serve(absl::StrCat("runner_id: '", id,
                                      "' max_agents: 2 agents { name: 'claude' } "
                                      "workspaces { name: 'web' dir: '/web' }"));
    EXPECT_TRUE(serving->Next()->has_started());
    return serving;
  }
  static std::string By(int64_t lease) {
    return absl::StrCat("session_id: 's' lease: ", lease, " ");
  }

  // Each request with a lease, by its name.
  const std::map<std::string, Way> ways_ = {
      {"SetAgentStateRequest",
       [this](const std::string& by) {
         return Call(&R::SetAgentState, by + "status: AGENT_STATUS_FAILED").status();
       }},
      {"IssueSessionTokenRequest",
       [this](const std::string& by) { return Call(&R::IssueSessionToken, by).status(); }},
      {"AnswerControlRequest",
       [this](const std::string& by) {
         return Call(&R::AnswerControl, by + "control_id: 'c'").status();
       }},
      {"AppendEventsRequest",
       [this](const std::string& by) {
         return Call(&S::AppendEvents, by + "events { type: 'agent_message' data: '{}' }").status();
       }},
      {"AddAgentTextRequest",
       [this](const std::string& by) { return Call(&S::AddAgentText, by + "text: 'x'").status(); }},
      {"AskPermissionRequest",
       [this](const std::string& by) {
         return Call(&S::AskPermission, by + "title: 't' options { option_id: 'yes' }").status();
       }},
      {"CancelPermissionsRequest",
       [this](const std::string& by) { return Call(&S::CancelPermissions, by).status(); }},
      {"PauseQueueRequest",
       [this](const std::string& by) { return Call(&Q::PauseQueue, by).status(); }},
      {"StartTurnRequest",
       [this](const std::string& by) {
         return Call(&Q::StartTurn, by + "turn_id: '" + turn_id_ + "'").status();
       }},
      {"FinishTurnRequest",
       [this](const std::string& by) {
         return Call(&Q::FinishTurn, by + "turn_id: '" + turn_id_ + "' outcome: OUTCOME_FAILED")
             .status();
       }},
      {"EndSessionRequest",
       [this](const std::string& by) { return Call(&S::EndSession, by).status(); }},
      {"ReceiveMessagesRequest", [this](const std::string& by) { return Receive(by)->Finish(); }},
  };
  // Requests that only the runner of a session makes.
  const std::set<std::string> runners_only_ = {"SetAgentStateRequest",  "IssueSessionTokenRequest",
                                               "AnswerControlRequest",  "AddAgentTextRequest",
                                               "StartTurnRequest",      "FinishTurnRequest",
                                               "ReceiveMessagesRequest"};
  std::string turn_id_ = "t";
};

TEST_F(RunnerLeaseTest, EachRequestWithALeaseIsTested) {
  std::set<std::string> all;
  for (const google::protobuf::Descriptor* any :
       {v1::GetSessionRequest::descriptor(), v1::GetQueueStatusRequest::descriptor(),
        v1::ServeRequest::descriptor()}) {
    for (int i = 0; i < any->file()->message_type_count(); ++i) {
      const google::protobuf::Descriptor* message = any->file()->message_type(i);
      const std::string name = message->name();
      if (message->FindFieldByName("lease") != nullptr && name.ends_with("Request")) {
        all.insert(name);
      }
    }
  }
  // A runner may give up a session that it does not have: that changes nothing.
  EXPECT_EQ(all.erase("ReleaseSessionRequest"), 1u);
  std::set<std::string> tried;
  for (const auto& [name, way] : ways_) tried.insert(name);
  EXPECT_EQ(tried, all);
}

// A runner with a session is disconnected. Another one gets the session, and is in a turn when the
// calls of the first one arrive.
TEST_F(RunnerLeaseTest, ExpiredLeaseChangesNothing) {
  auto first = Begin("a");
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'one'"));
  const int64_t stale = first->Next()->lease();
  first = nullptr;
  while (Call(&R::ListRunners, "")->runners(0).connected()) {
  }
  const auto second = Begin("b");
  clock_.Advance(kRunnerLease);
  const std::string by = By(second->Next()->lease());
  const auto receiver = Receive(by);
  turn_id_ = receiver->Next()->turn_id();
  ASSERT_OK(Call(&Q::StartTurn, by + "turn_id: '" + turn_id_ + "'"));
  ASSERT_OK(
      Call(&S::AskPermission, by + "permission_id: 'p' title: 't' options { option_id: 'y' }"));
  const auto before = Call(&S::GetSession, "session_id: 's'");
  const auto queue = Call(&Q::GetQueueStatus, "session_id: 's'");
  ASSERT_EQ(queue->turn_id(), turn_id_);
  for (const auto& [name, way] : ways_) {
    EXPECT_THAT(way(By(stale)), FailsWith(StatusCode::kFailedPrecondition, "not_assigned")) << name;
    EXPECT_THAT(way(By(7)), FailsWith(StatusCode::kFailedPrecondition, "not_assigned")) << name;
    if (!runners_only_.contains(name)) continue;
    // A call without a lease cannot take its place either.
    EXPECT_THAT(way(By(0)), FailsWith(StatusCode::kFailedPrecondition, "not_assigned")) << name;
  }
  EXPECT_OK(Call(&R::ReleaseSession, By(stale)));
  EXPECT_EQ(Call(&S::GetSession, "session_id: 's'")->DebugString(), before->DebugString());
  EXPECT_EQ(Call(&Q::GetQueueStatus, "session_id: 's'")->DebugString(), queue->DebugString());
  EXPECT_EQ(Call(&S::ListPermissions, "session_id: 's'")->permissions_size(), 1);
  ASSERT_OK(Call(&Q::FinishTurn, by + "turn_id: '" + turn_id_ + "' outcome: OUTCOME_COMPLETED"));
}

TEST_F(RunnerLeaseTest, SessionWithoutARunnerAcceptsCallsWithoutALease) {
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'one'"));
  const auto receiver = Receive("session_id: 's'");
  turn_id_ = receiver->Next()->turn_id();
  for (const auto& [name, way] : ways_) {
    EXPECT_THAT(way(By(7)), FailsWith(StatusCode::kFailedPrecondition, "not_assigned")) << name;
  }
  EXPECT_OK(ways_.at("StartTurnRequest")(By(0)));
  EXPECT_OK(ways_.at("AddAgentTextRequest")(By(0)));
  EXPECT_OK(ways_.at("FinishTurnRequest")(By(0)));
}

}  // namespace
}  // namespace callslip::tracker
