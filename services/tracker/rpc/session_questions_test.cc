// Questions of agents over the real listener, with gRPC's own client.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/session_events.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::SizeIs;

class SessionQuestionsTest : public SessionServerTest {
 protected:
  using SessionServerTest::SessionServerTest;

  // Calls that wait for an answer.
  int64_t Asking() {
    for (const RpcStatistics& rpc : server_->Statistics().admission.rpcs) {
      if (rpc.method == "AskPermission") return rpc.under_way;
    }
    return 0;
  }
};

TEST_F(SessionQuestionsTest, FirstAnswerToAQuestionCounts) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_TRUE(watch->Next()->has_caught_up());
  absl::StatusOr<v1::Permission> answer;
  std::thread asker([&] {
    answer = Call(&S::AskPermission,
                  "session_id: 's' title: 'rm?' tool_call_id: 't' max_wait_ms: 55000 "
                  "options { option_id: 'yes' name: 'Yes' kind: 'allow_once' } "
                  "options { option_id: 'no' }");
  });
  const std::string id = watch->Next()->permission().permission_id();
  EXPECT_THAT(Call(&S::ListPermissions, "session_id: 's'")->permissions(), SizeIs(1));
  const std::string question = "session_id: 's' permission_id: '" + id + "' ";
  EXPECT_THAT(Call(&S::AnswerPermission, question + "option_id: 'maybe'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  const auto won = Call(&S::AnswerPermission, question + "option_id: 'yes'");
  EXPECT_EQ(won->selected_option(), "yes");
  EXPECT_THAT(Call(&S::AnswerPermission, question + "option_id: 'no'"),
              FailsWith(StatusCode::kFailedPrecondition, "permission_answered"));
  asker.join();
  ASSERT_OK(answer);
  EXPECT_EQ(answer->selected_option(), "yes");
  EXPECT_TRUE(answer->answered());
  EXPECT_EQ(answer->title(), "rm?");
  const auto told = watch->Next();
  EXPECT_EQ(told->permission().selected_option(), "yes");
  EXPECT_EQ(MemberOf(watch->Next()->event(), "outcome"), "selected");
  // The same question gets the same answer again.
  EXPECT_EQ(Call(&S::AskPermission, question)->selected_option(), "yes");
  EXPECT_THAT(Call(&S::AskPermission, "session_id: 's' permission_id: 'p'"),
              FailsWith(StatusCode::kNotFound, "unknown_permission"));
  EXPECT_THAT(Call(&S::AnswerPermission, "session_id: 's' permission_id: 'p' option_id: 'yes'"),
              FailsWith(StatusCode::kNotFound, "unknown_permission"));
}

TEST_F(SessionQuestionsTest, QuestionStaysOpenWhenItsAskerLeaves) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_TRUE(watch->Next()->has_caught_up());
  grpc::ClientContext context;
  std::thread asker([&] {
    v1::Permission permission;
    const grpc::Status left = std::get<std::unique_ptr<S>>(stubs_)->AskPermission(
        &context,
        Parse<v1::AskPermissionRequest>("session_id: 's' permission_id: 'p' title: 'rm?' "
                                        "max_wait_ms: 55000 options { option_id: 'yes' }"),
        &permission);
    EXPECT_EQ(left.error_code(), grpc::StatusCode::CANCELLED);
  });
  EXPECT_EQ(watch->Next()->permission().permission_id(), "p");
  context.TryCancel();
  asker.join();
  const std::string question = "session_id: 's' permission_id: 'p' ";
  ASSERT_OK_AND_ASSIGN(const v1::Permission open, Call(&S::AskPermission, question));
  EXPECT_FALSE(open.answered());
  EXPECT_EQ(open.title(), "rm?");
  ASSERT_OK(Call(&S::AnswerPermission, question + "option_id: 'yes'"));
  EXPECT_TRUE(Call(&S::AskPermission, question)->answered());
}

TEST_F(SessionQuestionsTest, QuestionStaysOpenAfterTheMaxWaitOfItsCall) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_TRUE(watch->Next()->has_caught_up());
  absl::StatusOr<v1::Permission> answer;
  std::thread asker([&] {
    answer = Call(&S::AskPermission,
                  "session_id: 's' title: 't' max_wait_ms: 1000 options { option_id: 'yes' }");
  });
  EXPECT_TRUE(watch->Next()->has_permission());
  clock_.Advance(absl::Seconds(1));
  asker.join();
  EXPECT_FALSE(answer->answered());
  EXPECT_FALSE(answer->cancelled());
  ASSERT_OK_AND_ASSIGN(const auto cancelled, Call(&S::CancelPermissions, "session_id: 's'"));
  ASSERT_THAT(cancelled.permissions(), SizeIs(1));
  EXPECT_TRUE(cancelled.permissions(0).cancelled());
  EXPECT_THAT(Call(&S::ListPermissions, "session_id: 's'")->permissions(), SizeIs(0));
  EXPECT_THAT(Call(&S::AskPermission, "session_id: 's' max_wait_ms: 55001"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(SessionQuestionsTest, AnswerGivenInTimeIsReturnedEvenIfStoredLate) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_TRUE(watch->Next()->has_caught_up());
  absl::StatusOr<v1::Permission> answer;
  std::thread asker([&] {
    answer =
        Call(&S::AskPermission,
             "session_id: 's' permission_id: 'p' max_wait_ms: 1000 options { option_id: 'y' }");
  });
  EXPECT_TRUE(watch->Next()->has_permission());
  // The disk takes its time.
  Awaited<bool> stored;
  sessions_->Run(
      "s",
      [&](Session&, absl::Time) {
        stored.Wait();
        return absl::OkStatus();
      },
      [](const absl::Status&) {});
  sessions_->Run(
      "s",
      [](Session& session, absl::Time now) {
        return session.AnswerPermission({.request_id = "p", .option_id = "y"}, now);
      },
      [](const absl::Status& status) { EXPECT_OK(status); });
  clock_.Advance(absl::Seconds(1));
  stored.Set(true);
  asker.join();
  EXPECT_TRUE(answer->answered());
}

TEST_F(SessionQuestionsTest, NumberOfQuestionsIsLimited) {
  CreateSession();
  for (int i = 0; i < 32; ++i) {
    ASSERT_OK(Call(&S::AskPermission, "session_id: 's' options { option_id: 'yes' }"));
  }
  EXPECT_THAT(Call(&S::AskPermission, "session_id: 's' options { option_id: 'yes' }"),
              FailsWith(StatusCode::kResourceExhausted, "too_many_permissions"));
}

TEST_F(SessionQuestionsTest, EveryFieldOfAQuestionIsBounded) {
  CreateSession();
  const auto invalid = FailsWith(StatusCode::kInvalidArgument, "invalid_argument");
  struct Field {
    const char* before;
    size_t most;
    const char* after;
  };
  for (const Field& field : {Field{"options { option_id: '", 128, "' }"},
                             Field{"options { option_id: 'y' name: '", 1024, "' }"},
                             Field{"options { option_id: 'y' kind: '", 64, "' }"},
                             Field{"options { option_id: 'y' } tool_call_id: '", 128, "'"},
                             Field{"options { option_id: 'y' } title: '", 65'536, "'"},
                             Field{"options { option_id: 'y' } permission_id: '", 128, "'"}}) {
    const auto ask = [&](size_t bytes) {
      return Call(&S::AskPermission,
                  "session_id: 's' " + (field.before + std::string(bytes, 'x')) + field.after);
    };
    EXPECT_OK(ask(field.most)) << field.before;
    EXPECT_THAT(ask(field.most + 1), invalid) << field.before;
  }
}

TEST_F(SessionQuestionsTest, AnswerReachesAllWaitingAskers) {
  CreateSession();
  const std::string question =
      "session_id: 's' permission_id: 'p' title: 'rm?' options { option_id: 'yes' } ";
  std::vector<std::thread> askers;
  std::vector<absl::StatusOr<v1::Permission>> answers(20);
  for (auto& answer : answers) {
    askers.emplace_back([&] { answer = Call(&S::AskPermission, question + "max_wait_ms: 55000"); });
  }
  while (Asking() < 20) (void)Events();
  ASSERT_OK(Call(&S::AnswerPermission, "session_id: 's' permission_id: 'p' option_id: 'yes'"));
  clock_.Advance(absl::Seconds(55));
  for (std::thread& asker : askers) asker.join();
  for (const auto& answer : answers) {
    ASSERT_OK(answer);
    EXPECT_TRUE(answer->answered());
  }
}

}  // namespace
}  // namespace callslip::tracker
