// Questions of agents, and their first answers.
#include "tracker/domain/session/permissions.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

class SessionPermissionsTest : public SessionTableTest {
 protected:
  struct Answer final : public PermissionAsker {
    void OnAnswer(const absl::StatusOr<PermissionAnswer>& answer) override { told.Set(answer); }
    absl::StatusOr<PermissionAnswer> Wait() { return told.Wait(); }
    Awaited<absl::StatusOr<PermissionAnswer>> told;
  };

  absl::StatusOr<PermissionRequest> Ask(const std::string& id, Answer& answer) {
    return With<PermissionRequest>([&](Session& s, absl::Time now) {
      return s.AskPermission(
          {.id = id,
           .title = "write a.txt?",
           .tool_call_id = "call-1",
           .options = {{"yes", "Allow", "allow_once"}, {"no", "Reject", "reject_once"}}},
          // The test owns it.
          std::shared_ptr<PermissionAsker>(std::shared_ptr<void>(), &answer), now);
    });
  }
  absl::Status Give(const std::string& id, const std::string& option,
                    const std::string& client = "tab-1") {
    return Run([&](Session& s, absl::Time now) {
      return s.AnswerPermission({id, option, client}, now);
    });
  }
};

TEST_F(SessionPermissionsTest, FirstAnswerIsFinal) {
  ASSERT_OK(Create("s1"));
  Answer answer;
  ASSERT_OK_AND_ASSIGN(const PermissionRequest asked, Ask("", answer));
  EXPECT_THAT(asked.id, testing::MatchesRegex("perm-[0-9a-f]{16}"));
  EXPECT_THAT(Give(asked.id, "maybe"), kInvalid);
  EXPECT_OK(Give(asked.id, "yes", "tab-1"));
  EXPECT_THAT(Give(asked.id, "no", "tab-2"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "permission_answered"));
  EXPECT_EQ(answer.Wait().value(), (PermissionAnswer{asked.id, "yes", "tab-1", "person"}));
  EXPECT_EQ(TextOf(ReadAll().back()),
            R"(permission {"title":"write a.txt?","selected_option":"yes","outcome":"selected",)"
            R"("permission_id":")" +
                asked.id + R"(","tool_call_id":"call-1","decided_by":"person"})");
  EXPECT_THAT(Give("perm-x", "yes"), FailsWith(absl::StatusCode::kNotFound, "unknown_permission"));
}

TEST_F(SessionPermissionsTest, RequestIsCancelledWithoutAffectingOthers) {
  ASSERT_OK(Create("s1"));
  Answer first;
  Answer second;
  ASSERT_OK(Ask("perm-1", first));
  ASSERT_OK(Ask("perm-2", second));
  const auto cancel = [&](const std::string& id) {
    return Run([&](Session& s, absl::Time now) { return s.CancelPermission(id, now); });
  };
  ASSERT_OK(cancel("perm-1"));
  EXPECT_EQ(first.Wait().value(), (PermissionAnswer{.request_id = "perm-1"}));
  EXPECT_EQ(Snapshot().permissions.size(), 1u);
  ASSERT_OK(Give("perm-2", "yes"));
  // A question that is over stays as it was.
  ASSERT_OK(cancel("perm-2"));
  Answer again;
  EXPECT_OK(Ask("perm-2", again));
  EXPECT_EQ(again.Wait()->option_id, "yes");
}

TEST_F(SessionPermissionsTest, RequestCancelledBeforeItIsAskedIsNeverOpen) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.CancelPermission("perm-1", now); }));
  Answer answer;
  EXPECT_OK(Ask("perm-1", answer));
  EXPECT_TRUE(answer.Wait()->cancelled());
  EXPECT_THAT(Snapshot().permissions, testing::IsEmpty());
}

TEST_F(SessionPermissionsTest, RequestDetailsMustBeJsonObject) {
  ASSERT_OK(Create("s1"));
  const auto ask = [&](const std::string& details) {
    return With<PermissionRequest>([&](Session& s, absl::Time now) {
      return s.AskPermission({.title = "write?",
                              .kind = "edit",
                              .details = details,
                              .options = {{"yes", "Allow", ""}}},
                             std::make_shared<Answer>(), now);
    });
  };
  EXPECT_THAT(ask("[]"), kInvalid);
  EXPECT_THAT(ask("{"), kInvalid);
  EXPECT_THAT(ask(R"({"a":")" + std::string(kMaxPermissionDetailsBytes, 'x') + R"("})"), kInvalid);
  EXPECT_EQ(ask(R"({"path":"/a"})")->details, R"({"path":"/a"})");
  EXPECT_EQ(Snapshot().permissions.at(0).kind, "edit");
}

TEST_F(SessionPermissionsTest, DeciderIsValidatedAndRecorded) {
  ASSERT_OK(Create("s1"));
  Answer answer;
  ASSERT_OK(Ask("perm-1", answer));
  const auto give = [&](const std::string& decided_by) {
    return Run([&](Session& s, absl::Time now) {
      return s.AnswerPermission({"perm-1", "no", "tab-1", decided_by}, now);
    });
  };
  EXPECT_THAT(give("policy"), kInvalid);
  ASSERT_OK(give("agent"));
  EXPECT_EQ(MemberOf(ReadAll().back(), "decided_by"), "agent");
}

TEST_F(SessionPermissionsTest, OpenRequestSurvivesDisconnects) {
  ASSERT_OK(Create("s1"));
  Answer first;
  ASSERT_OK(Ask("perm-1", first));
  const auto feed = Subscribe(0);
  EXPECT_EQ(feed->NextOf<SessionSnapshot>().permissions.at(0).id, "perm-1");
  Unsubscribe(feed);
  // The asker comes back too, and asks under the same id.
  Answer second;
  ASSERT_OK(Ask("perm-1", second));
  EXPECT_EQ(Snapshot().permissions.size(), 1u);
  ASSERT_OK(Give("perm-1", "no"));
  EXPECT_EQ(first.Wait()->option_id, "no");
  EXPECT_EQ(second.Wait()->option_id, "no");
  Answer third;
  ASSERT_OK(Ask("perm-1", third));
  EXPECT_EQ(third.Wait()->option_id, "no");
}

TEST_F(SessionPermissionsTest, CancelAndTurnEndResolveAllRequests) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("go"));
  const std::string turn = runner->handed.Take().turn_id;
  ASSERT_OK(StartTurn(turn));
  Answer one;
  Answer two;
  ASSERT_OK(Ask("perm-1", one));
  ASSERT_OK(Ask("perm-2", two));
  ASSERT_OK_AND_ASSIGN(const size_t cancelled, With<size_t>([](Session& s, absl::Time now) {
                         return s.CancelPermissions(now);
                       }));
  EXPECT_EQ(cancelled, 2u);
  EXPECT_TRUE(one.Wait()->cancelled());
  EXPECT_TRUE(two.Wait()->cancelled());
  Answer three;
  ASSERT_OK(Ask("perm-3", three));
  ASSERT_OK(FinishTurn(turn));
  EXPECT_TRUE(three.Wait()->cancelled());
  const std::vector<EventPtr> events = ReadAll();
  EXPECT_EQ(TextOf(events.at(events.size() - 2)),
            R"(permission {"title":"write a.txt?","selected_option":"","outcome":"cancelled",)"
            R"("permission_id":"perm-3","tool_call_id":"call-1"})");
}

TEST_F(SessionPermissionsTest, AskerGetsErrorWhenSessionIsDeleted) {
  ASSERT_OK(Create("s1"));
  Answer answer;
  ASSERT_OK(Ask("perm-1", answer));
  ASSERT_OK(Delete("s1"));
  EXPECT_THAT(answer.Wait(), kUnknown);
}

TEST_F(SessionPermissionsTest, NumberOfOpenRequestsIsLimited) {
  ASSERT_OK(Create("s1"));
  Answer ignored;
  for (size_t i = 0; i < kMaxOpenPermissions; ++i) {
    ASSERT_OK(Ask(absl::StrCat("perm-", i), ignored));
  }
  EXPECT_THAT(Ask("perm-more", ignored),
              FailsWith(absl::StatusCode::kResourceExhausted, "too_many_permissions"));
  Close();  // The askers are notified.
}

}  // namespace
}  // namespace callslip::tracker
