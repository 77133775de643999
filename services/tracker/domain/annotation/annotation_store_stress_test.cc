#include <atomic>
#include <barrier>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/queue/command_table_fixture.h"

// Many threads at once, above all for ThreadSanitizer. The clock stands still, so that a request
// that missed its drawing would wait for ever.
namespace callslip::tracker {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr int kRounds = 2'000;
#else
constexpr int kRounds = 20'000;
#endif

AnnotationRequest RequestOf(const std::string& client, int64_t tab_id,
                            const std::string& session = "") {
  return {.client_id = client, .query = {.tab_id = tab_id, .session = session}};
}

Drawing DrawingIn(int64_t tab_id, std::string content, std::string session = "") {
  return {.tab_id = tab_id, .session = std::move(session), .content = Bytes(std::move(content))};
}

class AnnotationStoreStressTest : public CommandTableTest {
 protected:
  Journal journal_;  // Its entries are never taken.
  AnnotationStore store_{&table_, {}, &journal_};
};

// Asking and drawing at the same moment: whichever comes first, the request completes, and with the
// drawing of its round.
TEST_F(AnnotationStoreStressTest, NoRequestMissesConcurrentDrawing) {
  constexpr int kAgents = 3;
  std::barrier start(kAgents + 1);
  std::barrier end(kAgents + 1);
  std::atomic<int> found{0};
  std::vector<std::thread> agents;
  for (int agent = 0; agent < kAgents; ++agent) {
    agents.emplace_back([&, client = absl::StrCat("agent-", agent)] {
      for (int round = 0; round < kRounds; ++round) {
        start.arrive_and_wait();
        const auto asked = store_.Request(RequestOf(client, 7), clock_.Now());
        if (asked.ok() && asked->command->state == State::kCompleted) ++found;
        end.arrive_and_wait();
        // No thread ends before the last round: the others would wait for ever.
        const auto command = table_.Get(client, IdOf(*asked->command), /*peek=*/false);
        const bool ended = (*command)->state == State::kCompleted;
        EXPECT_TRUE(ended && *(*command)->result == absl::StrCat(round)) << "round " << round;
      }
    });
  }
  int completed = 0;
  for (int round = 0; round < kRounds; ++round) {
    start.arrive_and_wait();
    // Sometimes before the requests, sometimes after them, mostly among them.
    for (int i = 0; i < round % 100; ++i) (void)store_.waiters();
    const auto appended = store_.Append(DrawingIn(7, absl::StrCat(round)), {}, "", clock_.Now());
    completed += static_cast<int>(appended->completed.size());
    end.arrive_and_wait();
  }
  for (std::thread& agent : agents) agent.join();
  EXPECT_EQ(completed + found, kAgents * kRounds);
  EXPECT_EQ(store_.waiters(), 0);
}

// Everything at once: no drawing is lost or delivered to a client twice, and no client is stuck.
TEST_F(AnnotationStoreStressTest, EachSessionDrawingReachesEachClientThatKeepsAsking) {
  constexpr int kPeople = 2;
  constexpr int kAgents = 3;
  constexpr int kDrawings = 50;  // Of each; a session has room for them.
  constexpr int kSessions = kRounds / 1'000;
  for (int number = 0; number < kSessions; ++number) {
    const std::string session = absl::StrCat("session-", number);
    std::vector<std::thread> threads;
    for (int person = 0; person < kPeople; ++person) {
      threads.emplace_back([&, person] {
        for (int i = 0; i < kDrawings; ++i) {
          const auto appended =
              store_.Append(DrawingIn(person, "1", session), {}, "", clock_.Now());
          ASSERT_OK(appended);
          EXPECT_TRUE(appended->stored);
        }
      });
    }
    for (int agent = 0; agent < kAgents; ++agent) {
      threads.emplace_back([&, client = absl::StrCat("agent-", agent)] {
        // A whole session is "[1,1,…,1]".
        const size_t whole = 2 * kPeople * kDrawings + 1;
        for (size_t seen = 0; seen < whole;) {
          AnnotationRequest request{.client_id = client, .query = {.session = session}};
          const auto asked = store_.Request(std::move(request), clock_.Now());
          ASSERT_OK(asked);
          const std::string id = IdOf(*asked->command);
          auto command = table_.Get(client, id, /*peek=*/false);
          for (; (*command)->state == State::kQueued;
               command = table_.Get(client, id, /*peek=*/false)) {
            std::this_thread::yield();
          }
          ASSERT_EQ((*command)->state, State::kCompleted);
          EXPECT_GT((*command)->result->size(), seen);
          seen = (*command)->result->size();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    // Results are kept for minutes: the next session shall not fill the table.
    Advance(absl::Minutes(10));
  }
  EXPECT_EQ(store_.waiters(), 0);
}

// Several threads submit one drawing at the same moment: it is stored once, and each of them gets
// all the commands that it has completed.
TEST_F(AnnotationStoreStressTest, ConcurrentlyRepeatedDrawingIsStoredOnce) {
  constexpr int kBearers = 3;
  std::barrier start(kBearers);
  std::string id;
  std::vector<std::thread> bearers;
  for (int bearer = 0; bearer < kBearers; ++bearer) {
    bearers.emplace_back([&, bearer] {
      for (int round = 0; round < kRounds / 10; ++round) {
        if (bearer == 0) id = IdOf(*store_.Request(RequestOf(kClient, 7), clock_.Now())->command);
        start.arrive_and_wait();
        const auto appended =
            store_.Append(DrawingIn(7, "1"), {}, absl::StrCat("d", round), clock_.Now());
        EXPECT_THAT(appended->completed, ElementsAre(id));
        EXPECT_EQ((*table_.Get(kClient, id, /*peek=*/false))->state, State::kCompleted);
        start.arrive_and_wait();
      }
    });
  }
  for (std::thread& bearer : bearers) bearer.join();
}

// A cancel and a drawing at the same moment: exactly one of them wins, and a drawing that lost is
// there for the next request.
TEST_F(AnnotationStoreStressTest, ConcurrentCancelDoesNotLoseDrawing) {
  std::barrier start(2);
  std::barrier end(2);
  std::string id;
  std::thread person([&] {
    for (int round = 0; round < kRounds; ++round) {
      start.arrive_and_wait();
      EXPECT_OK(store_.Append(DrawingIn(7, absl::StrCat(round)), {}, "", clock_.Now()));
      end.arrive_and_wait();
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    const auto asked = store_.Request(RequestOf(kClient, 7), clock_.Now());
    ASSERT_OK(asked);
    ASSERT_EQ(asked->command->state, State::kQueued);
    id = IdOf(*asked->command);
    start.arrive_and_wait();
    const bool cancelled = table_.Cancel(kClient, id, clock_.Now()).ok();
    end.arrive_and_wait();
    ASSERT_EQ((*table_.Get(kClient, id, /*peek=*/false))->state,
              cancelled ? State::kCancelled : State::kCompleted);
    if (!cancelled) continue;
    const auto again = store_.Request(RequestOf(kClient, 7), clock_.Now());
    ASSERT_OK(again);
    ASSERT_EQ(again->command->state, State::kCompleted);
    EXPECT_EQ(*again->command->result, absl::StrCat(round));
  }
  person.join();
}

}  // namespace
}  // namespace callslip::tracker
