// No client uses up the room of others, in any of the tables that clients share.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/status_macros.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/runner/runner_table.h"
#include "tracker/domain/session/player_table.h"
#include "tracker/domain/session/session_table_fixture.h"
#include "tracker/domain/worker/worker_limits.h"
#include "tracker/domain/worker/worker_registry.h"

namespace callslip::tracker {
namespace {

class SharesTest : public SessionTableTest {
 public:
  SharesTest() {
    limits_.sessions = 40;
    limits_.sessions_of_client = 20;
    limits_.log_bytes = 80'000;
    limits_.log_bytes_of_client = 40'000;
    limits_.agent_answers = 12;
    limits_.agent_answers_of_client = 6;
    limits_.agent_text_bytes = 80'000;
    limits_.agent_text_bytes_of_client = 40'000;
    threads_ = 1;
    Reopen();
  }

  absl::Status NewSession(const std::string& client, int number) {
    return Create({.session_id = absl::StrCat(client, number), .owner = client}).status();
  }

  // Records one more event in the first session of a client, which it creates for `number` 0.
  absl::Status RecordMore(const std::string& client, int number) {
    if (number == 0) RETURN_IF_ERROR(NewSession(client, 0));
    const std::string id = absl::StrCat(client, 0);
    RETURN_IF_ERROR(table_->CheckRoom(id));
    return Record(AgentMessage{std::string(10'000, 'x')}, id).status();
  }

  absl::Status OpenPlayer(const std::string& client, int) {
    return players_.Open(client, {.session_id = "s"}, clock_.Now()).status();
  }

  absl::Status Speak(const std::string& client, int number, size_t bytes) {
    RETURN_IF_ERROR(NewSession(client, number));
    return With<AddedAgentText>(
               [bytes](Session& session, absl::Time now) {
                 return session.AddAgentText({.text = std::string(bytes, 'x')}, now);
               },
               absl::StrCat(client, number))
        .status();
  }
  absl::Status BeginAnswer(const std::string& client, int number) {
    return Speak(client, number, 1);
  }
  absl::Status BeginLongAnswer(const std::string& client, int number) {
    return Speak(client, number, 12'000);
  }

  absl::Status HandIn(const std::string& client, int number) {
    return commands_
        .Register({.client_id = client,
                   .target = absl::StrCat(client, number),
                   .type = "work",
                   .params = std::make_shared<const std::string>("1")},
                  clock_.Now())
        .status();
  }
  absl::Status HandInMuch(const std::string& client, int number) {
    return commands_
        .Register({.client_id = client,
                   .target = absl::StrCat(client, number),
                   .type = "work",
                   .params = std::make_shared<const std::string>(12'000, 'x')},
                  clock_.Now())
        .status();
  }
  absl::Status QueueUp(const std::string& client, int) {
    return commands_
        .Register({.client_id = client,
                   .target = "browser",
                   .type = "work",
                   .params = std::make_shared<const std::string>("1")},
                  clock_.Now())
        .status();
  }

  absl::Status Poll(const std::string& client, int number) {
    return commands_
        .Lease({.target = absl::StrCat(client, number),
                .worker_id = "w",
                .hold_until = clock_.Now() + absl::Seconds(30),
                .client_id = client},
               clock_.Now(), [](const WorkerNews&) {})
        .status();
  }
  absl::Status HoldQuestion(const std::string& client, int) {
    auto held = commands_.HoldWait(client);
    if (held.ok()) questions_.push_back(*std::move(held));
    return held.status();
  }

  absl::Status ServeAsRunner(const std::string& client, int number) {
    RunnerOffer offer{.runner_id = absl::StrCat(client, number), .max_agents = 1};
    offer.clients = ClientScope(client);
    return runners_.Connect(std::move(offer), {}, clock_.Now()).status();
  }
  // The store does not refuse a drawing that it does not keep; its answer says so.
  absl::Status Draw(const std::string& client, int number, size_t bytes) {
    Drawing drawing{.session = absl::StrCat("s", number),
                    .content = std::make_shared<const std::string>(bytes, 'x')};
    drawing.clients = ClientScope(client);
    ASSIGN_OR_RETURN(const AppendedDrawing appended,
                     drawings_.Append(std::move(drawing), {}, "", clock_.Now()));
    if (appended.stored) return absl::OkStatus();
    return ErrorWithDetails(absl::StatusCode::kResourceExhausted, "not stored",
                            {.reason = "not_stored"});
  }
  absl::Status DrawSomething(const std::string& client, int number) {
    return Draw(client, number, 1);
  }
  absl::Status DrawMuch(const std::string& client, int number) {
    return Draw(client, number, 12'000);
  }

  CommandTable commands_{CommandDeadlines(),
                         {.queued_of_client = 5,
                          .queued = 10,
                          .commands = 40,
                          .commands_of_client = 20,
                          .payload_bytes = 80'000,
                          .payload_bytes_of_client = 40'000,
                          .waits = 40,
                          .waits_of_client = 20}};
  std::vector<std::shared_ptr<void>> questions_;  // Destroyed before the table.
  PlayerTable players_;
  RunnerTable runners_;
  AnnotationStore drawings_{
      &commands_,
      {.drawings = 40, .bytes = 80'000, .drawings_of_client = 20, .bytes_of_client = 40'000}};
};

struct SharedTable {
  const char* name;
  const char* reason;
  // Takes room in it.
  absl::Status (SharesTest::*take)(const std::string& client, int number);
};

constexpr SharedTable kTables[] = {
    {"sessions", "too_many_sessions", &SharesTest::NewSession},
    {"bytes of sessions", "too_many_log_bytes", &SharesTest::RecordMore},
    {"players", "too_many_players", &SharesTest::OpenPlayer},
    {"agents' answers", "too_many_answers", &SharesTest::BeginAnswer},
    {"bytes of agents' answers", "too_many_answers", &SharesTest::BeginLongAnswer},
    {"commands", "too_many_commands", &SharesTest::HandIn},
    {"payloads", "too_many_bytes", &SharesTest::HandInMuch},
    {"a target's queue", "queue_full", &SharesTest::QueueUp},
    {"runners", "too_many_runners", &SharesTest::ServeAsRunner},
    {"drawings", "not_stored", &SharesTest::DrawSomething},
    {"bytes of drawings", "not_stored", &SharesTest::DrawMuch},
    {"held polls", "too_many_waits", &SharesTest::Poll},
    {"held questions", "too_many_waits", &SharesTest::HoldQuestion},
};

class EachSharedTableTest : public SharesTest, public ::testing::WithParamInterface<SharedTable> {};

TEST_P(EachSharedTableTest, OneClientLeavesRoomForOthers) {
  const SharedTable& table = GetParam();
  constexpr int kMoreThanAnyShare = 1000;
  absl::Status refused;
  int taken = 0;
  for (; taken < kMoreThanAnyShare && refused.ok(); ++taken) {
    refused = (this->*table.take)("mallory", taken);
  }
  EXPECT_GT(taken, 1) << table.name;
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kResourceExhausted, table.reason));
  // Another client gets at least half of the room that mallory has taken.
  for (int i = 0; i < taken / 2; ++i) EXPECT_OK((this->*table.take)("alice", i)) << table.name;
}

INSTANTIATE_TEST_SUITE_P(All, EachSharedTableTest, ::testing::ValuesIn(kTables));

TEST_F(SharesTest, ReleasedRoomCanBeTakenAgain) {
  while (HoldQuestion("mallory", 0).ok()) {
  }
  questions_.pop_back();
  EXPECT_OK(HoldQuestion("mallory", 0));
  int sessions = 0;
  while (NewSession("mallory", sessions).ok()) ++sessions;
  ASSERT_OK(Delete("mallory0"));
  EXPECT_OK(NewSession("mallory", 0));
  // The sessions from before a restart count.
  Reopen();
  EXPECT_THAT(NewSession("mallory", sessions),
              FailsWith(absl::StatusCode::kResourceExhausted, "too_many_sessions"));
}

TEST_F(SharesTest, FloodOfWorkersDoesNotEvictWorkersOfOtherClients) {
  WorkerRegistry workers;
  ASSERT_OK(workers.Seen("browser", "alices", clock_.Now(), {.client = "alice"}));
  for (size_t i = 0; i < 2 * kMaxWorkers; ++i) {
    clock_.Advance(absl::Milliseconds(1));
    ASSERT_OK(workers.Seen("browser", absl::StrCat("w", i), clock_.Now(), {.client = "mallory"}));
  }
  ASSERT_OK_AND_ASSIGN(const WorkerPage page, workers.List("browser", 1, "", {}, clock_.Now()));
  ASSERT_EQ(page.workers.size(), 1u);
  EXPECT_EQ(page.workers[0].worker_id, "alices");
}

}  // namespace
}  // namespace callslip::tracker
