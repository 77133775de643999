#include "tracker/domain/runner/runner_table.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/runner/runner_limits.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr absl::Duration kMoment = absl::Milliseconds(1);

class RunnerTableTest : public testing::Test {
 protected:
  static RunnerOffer Offer(const std::string& id, int max_agents = 1,
                           const std::string& problem = "", const std::string& dir = "/web") {
    return {.runner_id = id,
            .version = "1",
            .agents = {{"claude", "Claude", problem}},
            .workspaces = {{"web", dir, {}}},
            .max_agents = max_agents};
  }
  std::vector<std::string> Connect(const RunnerOffer& offer,
                                   const std::vector<HeldSession>& held = {}) {
    const auto connected = table_.Connect(offer, held, now_);
    EXPECT_OK(connected);
    std::vector<std::string> others;
    if (!connected.ok()) return others;
    for (const HeldSession& other : connected->others) others.push_back(other.session_id);
    return others;
  }
  static SessionNeed Need(const std::string& session,
                          const AgentPlace& place = {"claude", "/web/app"},
                          std::vector<Maker> makers = {}) {
    return {session, "alice", place, std::move(makers)};
  }

  std::string Assign(const std::string& session) { return table_.Assign(Need(session)); }
  HeldSession Held(const std::string& session) { return {session, table_.LeaseOf(session)}; }
  std::vector<std::string> After(absl::Duration wait) {
    now_ += wait;
    return table_.Expire(now_);
  }

  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  RunnerTable table_;
};

TEST_F(RunnerTableTest, AssignsSessionToSuitableRunner) {
  EXPECT_EQ(Assign("s"), "");
  Connect(Offer("elsewhere", 1, "", "/lib"));
  EXPECT_EQ(Assign("s"), "");
  Connect(Offer("r"));
  EXPECT_EQ(Assign("s"), "r");
  EXPECT_EQ(table_.RunnerOf("s"), "r");
  EXPECT_EQ(table_.Assign(Need("t", {"gemini", "/web"})), "");
  EXPECT_EQ(table_.Assign(Need("t", {"claude", "/web-evil"})), "");
}

TEST_F(RunnerTableTest, SessionHasOneRunner) {
  Connect(Offer("a"));
  EXPECT_EQ(Assign("s"), "a");
  Connect(Offer("b", 100));
  EXPECT_EQ(Assign("s"), "a");
  // A runner cannot hold a session of another runner, nor one that it was never assigned.
  EXPECT_THAT(Connect(Offer("b"), {Held("s"), {"t", 7}}), ElementsAre("s", "t"));
  EXPECT_EQ(table_.RunnerOf("s"), "a");
  EXPECT_EQ(table_.RunnerOf("t"), "");
}

TEST_F(RunnerTableTest, ChoosesRunnerWithLowestRelativeLoad) {
  Connect(Offer("big", 3));
  Connect(Offer("small", 1));
  EXPECT_EQ(Assign("1"), "big");  // Of equals the first by its id.
  EXPECT_EQ(Assign("2"), "small");
  EXPECT_EQ(Assign("3"), "big");
  EXPECT_EQ(Assign("4"), "big");
  EXPECT_EQ(Assign("5"), "big");  // Both are full.
  EXPECT_EQ(Assign("6"), "small");
}

TEST_F(RunnerTableTest, CountsOnlyRunningAgents) {
  Connect(Offer("a"));
  Connect(Offer("b"));
  EXPECT_EQ(Assign("1"), "a");
  for (const AgentStatus status : {AgentStatus::kStopped, AgentStatus::kFailed}) {
    table_.SetStatus("1", status);
    const std::string session = absl::StrCat("stopped-", static_cast<int>(status));
    EXPECT_EQ(Assign(session), "a");
    table_.Unassign(session);
  }
  for (const AgentStatus status :
       {AgentStatus::kWaiting, AgentStatus::kStarting, AgentStatus::kIdle, AgentStatus::kPrompting,
        AgentStatus::kNeedsPermission, AgentStatus::kStopping}) {
    table_.SetStatus("1", status);
    const std::string session = absl::StrCat("runs-", static_cast<int>(status));
    EXPECT_EQ(Assign(session), "b");
    table_.Unassign(session);
  }
}

TEST_F(RunnerTableTest, UsesAgentWithProblemOnlyIfNoOtherRunnerHasIt) {
  Connect(Offer("a", 10, "its command is missing"));
  EXPECT_EQ(Assign("1"), "a");
  Connect(Offer("b", 1));
  EXPECT_EQ(Assign("2"), "b");
  EXPECT_EQ(Assign("3"), "b");
}

TEST_F(RunnerTableTest, DisconnectedRunnerKeepsItsSessionsForTenSeconds) {
  Connect(Offer("a"));
  Assign("s");
  table_.Disconnect("a", now_);
  EXPECT_EQ(table_.NextTime(), now_ + kRunnerLease);
  EXPECT_THAT(After(kRunnerLease - kMoment), IsEmpty());
  EXPECT_EQ(Assign("s"), "a");
  EXPECT_THAT(After(kMoment), ElementsAre("s"));
  EXPECT_EQ(table_.RunnerOf("s"), "");
  EXPECT_EQ(Assign("s"), "");
}

TEST_F(RunnerTableTest, RunnerThatReturnsInTimeLosesNothing) {
  Connect(Offer("a"));
  Assign("s");
  table_.Disconnect("a", now_);
  EXPECT_THAT(After(kRunnerLease - kMoment), IsEmpty());
  const HeldSession held = Held("s");
  EXPECT_THAT(Connect(Offer("a"), {held}), IsEmpty());
  EXPECT_EQ(table_.LeaseOf("s"), held.lease);
  EXPECT_EQ(table_.NextTime(), absl::InfiniteFuture());
  EXPECT_THAT(After(absl::Hours(2)), IsEmpty());
  EXPECT_EQ(table_.RunnerOf("s"), "a");
}

TEST_F(RunnerTableTest, RunnerThatReturnsLateHasNoSessions) {
  Connect(Offer("a"));
  Assign("1");
  Assign("2");
  const std::vector<HeldSession> held = {Held("1"), Held("2")};
  table_.Disconnect("a", now_);
  EXPECT_THAT(After(kRunnerLease), UnorderedElementsAre("1", "2"));
  Connect(Offer("b"));
  EXPECT_EQ(Assign("1"), "b");
  EXPECT_THAT(Connect(Offer("a"), held), ElementsAre("1", "2"));
  EXPECT_EQ(table_.RunnerOf("2"), "");
}

// A caller with the lease of a session acts for its runner.
TEST_F(RunnerTableTest, LeaseIsValidForOneAssignment) {
  const auto not_assigned = FailsWith(StatusCode::kFailedPrecondition, "not_assigned");
  EXPECT_OK(table_.CheckLease("s", 0));
  EXPECT_THAT(table_.CheckLease("s", 7), not_assigned);
  std::set<int64_t> leases;
  const auto expect_new = [&](const std::string& why) {
    SCOPED_TRACE(why);
    const int64_t lease = table_.LeaseOf("s");
    EXPECT_GT(lease, 0);
    EXPECT_OK(table_.CheckLease("s", lease));
    EXPECT_THAT(table_.CheckLease("s", 0), not_assigned);
    for (const int64_t old : leases) EXPECT_THAT(table_.CheckLease("s", old), not_assigned);
    EXPECT_TRUE(leases.insert(lease).second);
  };
  Connect(Offer("a"));
  Assign("s");
  const int64_t first = table_.LeaseOf("s");
  expect_new("it is given");
  table_.Unassign("s");
  EXPECT_OK(table_.CheckLease("s", 0));
  Assign("s");
  expect_new("it is given again");
  Connect(Offer("a"));
  expect_new("its runner knows nothing of it");
  Connect(Offer("a"), {{"s", first}});
  expect_new("its runner knows an old one");
}

TEST_F(RunnerTableTest, RunningSessionsNotHeldAfterReconnectAreLost) {
  Connect(Offer("a", 3));
  for (const char* session : {"held", "ran", "slept"}) EXPECT_EQ(Assign(session), "a");
  table_.SetStatus("ran", AgentStatus::kPrompting);
  table_.SetStatus("slept", AgentStatus::kStopped);
  const auto again = table_.Connect(Offer("a", 3), {Held("held")}, now_);
  ASSERT_OK(again);
  EXPECT_THAT(again->lost, ElementsAre("ran"));
  EXPECT_EQ(table_.List()[0].running_agents, 1);
}

TEST_F(RunnerTableTest, LeaseIsAdoptedFromRunnerAfterTrackerStart) {
  table_.Keep(Need("s"), "a", now_);
  EXPECT_THAT(table_.CheckLease("s", 7), FailsWith(StatusCode::kUnavailable, "runner_away"));
  EXPECT_THAT(table_.CheckLease("s", 0),
              FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
  EXPECT_THAT(Connect(Offer("b"), {{"s", 7}}), ElementsAre("s"));
  EXPECT_THAT(Connect(Offer("a"), {{"s", 7}}), IsEmpty());
  EXPECT_OK(table_.CheckLease("s", 7));
}

TEST_F(RunnerTableTest, NameBelongsToOneProcessAtATime) {
  RunnerOffer first = Offer("a");
  first.instance = "1";
  RunnerOffer second = Offer("a");
  second.instance = "2";
  Connect(first);
  Assign("s");
  const int64_t lease = table_.LeaseOf("s");
  EXPECT_THAT(table_.Connect(second, {}, now_),
              FailsWith(StatusCode::kAlreadyExists, "runner_name_taken"));
  EXPECT_OK(table_.CheckLease("s", lease));
  Connect(first, {{"s", lease}});  // Its connection was lost.
  EXPECT_OK(table_.CheckLease("s", lease));
  table_.Disconnect("a", now_);
  RunnerOffer third = Offer("a");  // Was started in its place.
  third.instance = "3";
  Connect(third);
  EXPECT_THAT(table_.CheckLease("s", lease),
              FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
  EXPECT_THAT(table_.Connect(first, {{"s", lease}}, now_),
              FailsWith(StatusCode::kAlreadyExists, "runner_name_taken"));
}

TEST_F(RunnerTableTest, ProcessWaitingForNameGetsItOnceItsSessionsAreFree) {
  const auto offer = [](const std::string& instance) {
    RunnerOffer made = Offer("a");
    made.instance = instance;
    return made;
  };
  const auto taken = FailsWith(StatusCode::kAlreadyExists, "runner_name_taken");
  Connect(offer("first"));
  Assign("s");
  const int64_t lease = table_.LeaseOf("s");
  EXPECT_THAT(table_.Connect(offer("twin"), {}, now_), taken);
  table_.Disconnect("a", now_);
  now_ += kRunnerLease - kMoment;
  EXPECT_THAT(table_.Connect(offer("twin"), {}, now_), taken);
  // The connection was cut for a moment.
  EXPECT_THAT(Connect(offer("first"), {{"s", lease}}), IsEmpty());
  EXPECT_OK(table_.CheckLease("s", lease));
  // A process that was started in its place has not waited for the name.
  table_.Disconnect("a", now_);
  Connect(offer("next"));
  EXPECT_THAT(table_.CheckLease("s", lease),
              FailsWith(StatusCode::kFailedPrecondition, "not_assigned"));
  table_.Disconnect("a", now_);
  EXPECT_THAT(table_.Connect(offer("twin"), {}, now_), taken);
  EXPECT_THAT(After(kRunnerLease), ElementsAre("s"));
  Connect(offer("twin"));
  // A runner without sessions leaves its name at once.
  EXPECT_THAT(table_.Connect(offer("next"), {}, now_), taken);
  table_.Disconnect("a", now_);
  Connect(offer("next"));
}

TEST_F(RunnerTableTest, SingleSessionRunnerServesOnlyItsSession) {
  Connect(Offer("service", 100));
  RunnerOffer only = Offer("z");
  only.only_session = "mine";
  only.clients = ClientScope("alice");
  Connect(only);
  EXPECT_EQ(table_.OnlyRunnerOf("mine", "alice"), "z");
  EXPECT_EQ(table_.OnlyRunnerOf("mine", "bob"), "");
  EXPECT_EQ(table_.OnlyRunnerOf("other", "alice"), "");
  EXPECT_EQ(table_.OnlyRunnerOf("", "alice"), "");
  SessionNeed mine = Need("mine");
  mine.only_runner = "z";
  table_.Reserve(mine, now_);
  EXPECT_OK(table_.CheckLease("mine", table_.LeaseOf("mine")));
  EXPECT_NE(table_.LeaseOf("mine"), 0);
  EXPECT_EQ(table_.Assign(mine), "z");
  EXPECT_EQ(Assign("other"), "service");
  // It does not get the children of that session either, and the agent gets the reason.
  const AgentPlace place{"claude", "/web/app"};
  const absl::Status child = table_.CheckChild({place, "z", "mine"}, Need("", place));
  EXPECT_THAT(child, FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
  EXPECT_THAT(std::string(child.message()), HasSubstr("callslip-runner prompt"));
  // After its end no runner has the session.
  table_.Disconnect("z", now_);
  EXPECT_EQ(table_.Assign(mine), "z");
  EXPECT_THAT(After(kRunnerLease), ElementsAre("mine"));
  EXPECT_EQ(table_.Assign(mine), "");
  table_.Disconnect("service", now_);
  EXPECT_EQ(Assign("third"), "");
}

TEST_F(RunnerTableTest, SessionReservedForDisconnectedRunnerWaitsForIt) {
  RunnerOffer only = Offer("z");
  only.only_session = "mine";
  Connect(only);
  table_.Disconnect("z", now_);
  EXPECT_EQ(table_.OnlyRunnerOf("mine", "alice"), "z");
  SessionNeed mine = Need("mine");
  mine.only_runner = "z";
  table_.Reserve(mine, now_);
  EXPECT_EQ(table_.LeaseOf("mine"), 0);
  Connect(only);
  EXPECT_NE(table_.LeaseOf("mine"), 0);
  // As after a start of the tracker, if the runner never comes.
  RunnerTable after;
  after.Reserve(mine, now_);
  EXPECT_THAT(after.Expire(now_ + kRunnerLease), ElementsAre("mine"));
}

TEST_F(RunnerTableTest, DisconnectedRunnerGetsNoNewSession) {
  Connect(Offer("a"));
  table_.Disconnect("a", now_);
  EXPECT_EQ(Assign("s"), "");
}

TEST_F(RunnerTableTest, KeepsAssignmentsFromBeforeTrackerStart) {
  table_.Keep(Need("1"), "a", now_);
  table_.Keep(Need("2"), "b", now_);
  EXPECT_THAT(table_.List(), IsEmpty());
  Connect(Offer("c"));
  EXPECT_EQ(Assign("1"), "a");
  now_ += absl::Seconds(5);
  EXPECT_THAT(Connect(Offer("a"), {{"1", 7}}), IsEmpty());
  EXPECT_THAT(After(absl::Seconds(5)), ElementsAre("2"));
  EXPECT_EQ(Assign("2"), "a");
  EXPECT_EQ(table_.RunnerOf("1"), "a");
}

TEST_F(RunnerTableTest, ReleasedSessionIsNotReassignedToSameRunner) {
  Connect(Offer("a"));
  Assign("s");
  EXPECT_FALSE(table_.GiveUp("s", 7));
  EXPECT_FALSE(table_.GiveUp("t", 0));
  EXPECT_EQ(table_.RunnerOf("s"), "a");
  EXPECT_TRUE(table_.GiveUp("s", table_.LeaseOf("s")));
  EXPECT_EQ(Assign("s"), "");
  Connect(Offer("b"));
  EXPECT_EQ(Assign("s"), "b");
}

TEST_F(RunnerTableTest, ReleasedSessionReturnsWhenForcedOrAfterReconnect) {
  Connect(Offer("a"));
  Assign("s");
  table_.GiveUp("s", table_.LeaseOf("s"));
  EXPECT_EQ(table_.Assign(Need("s"), /*anyway=*/true), "a");
  table_.GiveUp("s", table_.LeaseOf("s"));
  Connect(Offer("a"));
  EXPECT_EQ(Assign("s"), "a");
}

TEST_F(RunnerTableTest, UnassignedSessionCanBeAssignedAgain) {
  Connect(Offer("a"));
  Assign("s");
  EXPECT_EQ(table_.Unassign("s"), "a");
  EXPECT_EQ(table_.Unassign("s"), "");
  EXPECT_THAT(table_.SessionsOf("a"), IsEmpty());
  EXPECT_EQ(Assign("s"), "a");
}

TEST_F(RunnerTableTest, ForgetsDisconnectedRunnerAfterOneHour) {
  Connect(Offer("a"));
  table_.Disconnect("a", now_);
  After(kForgetRunnerAfter - kMoment);
  EXPECT_THAT(table_.List(), SizeIs(1));
  After(kMoment);
  EXPECT_THAT(table_.List(), IsEmpty());
  EXPECT_EQ(table_.NextTime(), absl::InfiniteFuture());
}

TEST_F(RunnerTableTest, LimitsRunnersPerClientAndInTotal) {
  for (size_t i = 0; i < kMaxRunnersOfClient; ++i) Connect(Offer(absl::StrCat("r-", i)));
  EXPECT_THAT(table_.Connect(Offer("more"), {}, now_),
              FailsWith(StatusCode::kResourceExhausted, "too_many_runners"));
  Connect(Offer("r-0"));
  // Each client may have as many, within the limit of all runners.
  const auto of = [this](const std::string& client, size_t number) {
    RunnerOffer offer = Offer(absl::StrCat(client, "-", number));
    offer.clients = ClientScope(client);
    return table_.Connect(offer, {}, now_).status();
  };
  for (size_t i = 0; i < kMaxRunnersOfClient; ++i) EXPECT_OK(of("alice", i));
  const auto refused = FailsWith(StatusCode::kResourceExhausted, "too_many_runners");
  EXPECT_THAT(of("alice", kMaxRunnersOfClient), refused);
  EXPECT_THAT(of("bob", 0), refused);
  // A runner that is gone makes room within the limit of all runners, but not for a client at its
  // own limit.
  table_.Disconnect("r-1", now_);
  EXPECT_THAT(of("alice", kMaxRunnersOfClient), refused);
  EXPECT_OK(of("bob", 0));
  table_.Disconnect("r-0", now_);
  After(kForgetRunnerAfter);
  Connect(Offer("more"));
}

TEST_F(RunnerTableTest, LongestDisconnectedRunnerMakesRoomFirst) {
  for (size_t i = 0; i < kMaxRunnersOfClient; ++i) Connect(Offer(absl::StrCat("r-", i)));
  ASSERT_EQ(Assign("s"), "r-0");
  for (const char* gone : {"r-0", "r-2", "r-1"}) {
    table_.Disconnect(gone, now_);
    After(kMoment);
  }
  const auto is_known = [this](const std::string& id) {
    for (const RunnerInfo& runner : table_.List()) {
      if (runner.offer.runner_id == id) return true;
    }
    return false;
  };
  // A runner with a session is known until the end of its lease.
  Connect(Offer("more-1"));
  EXPECT_FALSE(is_known("r-2"));
  Connect(Offer("more-2"));
  EXPECT_FALSE(is_known("r-1"));
  EXPECT_TRUE(is_known("r-0"));
  EXPECT_THAT(table_.Connect(Offer("more-3"), {}, now_),
              FailsWith(StatusCode::kResourceExhausted, "too_many_runners"));
}

TEST_F(RunnerTableTest, LimitsNumberOfSessions) {
  Connect(Offer("a"));
  for (size_t i = 0; i < kMaxRunnerSessions; ++i) ASSERT_EQ(Assign(absl::StrCat(i)), "a");
  EXPECT_EQ(Assign("more"), "");
  table_.Unassign("0");
  EXPECT_EQ(Assign("more"), "a");
}

TEST_F(RunnerTableTest, RefusesRunnerWithoutId) {
  EXPECT_THAT(table_.Connect(Offer(""), {}, now_),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(RunnerTableTest, ListsRunnersById) {
  Connect(Offer("b", 4));
  Connect(Offer("a"));
  table_.Disconnect("a", now_);
  for (const char* session : {"1", "2", "3"}) EXPECT_EQ(Assign(session), "b");
  table_.SetStatus("1", AgentStatus::kPrompting);
  table_.SetStatus("2", AgentStatus::kWaiting);
  table_.SetStatus("3", AgentStatus::kStopped);
  const std::vector<RunnerInfo> runners = table_.List();
  ASSERT_THAT(runners, SizeIs(2));
  EXPECT_EQ(runners[0].offer.runner_id, "a");
  EXPECT_FALSE(runners[0].connected);
  EXPECT_TRUE(runners[1].connected);
  EXPECT_EQ(runners[1].offer.max_agents, 4);
  EXPECT_EQ(runners[1].running_agents, 1);
  EXPECT_EQ(runners[1].waiting_agents, 1);
  EXPECT_EQ(runners[1].sessions, 3);
  EXPECT_EQ(runners[1].known_since, now_);
}

// A runner that connects to an open port serves only the client `local`.
TEST_F(RunnerTableTest, RunnerOfOneClientGetsOnlySessionsOfThatClient) {
  RunnerOffer open = Offer("open");
  open.clients = ClientScope("local");
  Connect(open);
  EXPECT_EQ(Assign("s"), "");
  SessionNeed local = Need("l");
  local.owner = "";
  EXPECT_EQ(table_.Assign(local), "open");
  EXPECT_THAT(table_.CheckChild({{"claude", "/web"}, "", ""}, Need("", {"claude", "/web"})),
              FailsWith(StatusCode::kUnavailable, "runner_away"));
}

TEST_F(RunnerTableTest, RunnerOfOneClientCannotTakeOccupiedName) {
  Connect(Offer("r"));
  ASSERT_EQ(Assign("s"), "r");
  RunnerOffer open = Offer("r");
  open.clients = ClientScope("local");
  open.instance = "open";
  const auto refused = FailsWith(StatusCode::kAlreadyExists, "runner_name_taken");
  EXPECT_THAT(table_.Connect(open, {}, now_).status(), refused);
  table_.Unassign("s");
  EXPECT_THAT(table_.Connect(open, {}, now_).status(), refused);
  ASSERT_EQ(Assign("s"), "r");
  table_.Disconnect("r", now_);
  EXPECT_THAT(table_.Connect(open, {}, now_).status(), refused);
  table_.Unassign("s");
  EXPECT_OK(table_.Connect(open, {}, now_));
  // A runner of all clients gets its name back.
  RunnerOffer again = Offer("r");
  again.instance = "again";
  EXPECT_OK(table_.Connect(again, {}, now_));
  EXPECT_EQ(Assign("s"), "r");
}

TEST_F(RunnerTableTest, ChildIsAssignedToRunnerOfItsMaker) {
  const AgentPlace place{"claude", "/web/app"};
  const Maker maker{place, "strict", "m"};
  EXPECT_THAT(table_.CheckChild(maker, Need("", place)),
              FailsWith(StatusCode::kUnavailable, "runner_away"));
  RunnerOffer strict = Offer("strict");
  strict.workspaces.push_back({"lib", "/lib", {}});
  Connect(strict);
  EXPECT_EQ(table_.Assign(Need("m", place)), "strict");
  EXPECT_OK(table_.CheckChild(maker, Need("", place)));
  const AgentPlace child{"claude", "/lib"};
  EXPECT_THAT(table_.CheckChild(maker, Need("", child)),
              FailsWith(StatusCode::kFailedPrecondition, "workspace_not_allowed"));
  EXPECT_EQ(table_.Assign(Need("s", child, {maker})), "");
  EXPECT_THAT(table_.CheckChild(maker, Need("", {"claude", "/nowhere"})),
              FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
  // The rules of another runner do not count, however much room it has.
  RunnerOffer lax = strict;
  lax.runner_id = "lax";
  lax.max_agents = 100;
  lax.workspaces[0].children_in = {"lib"};
  Connect(lax);
  EXPECT_THAT(table_.CheckChild(maker, Need("", child)),
              FailsWith(StatusCode::kFailedPrecondition, "workspace_not_allowed"));
  EXPECT_EQ(table_.Assign(Need("s", child, {maker})), "");
  EXPECT_EQ(table_.Assign(Need("s", place, {maker})), "strict");
  table_.Unassign("s");
  // Nor may an agent use a session of another runner.
  EXPECT_EQ(table_.Assign(Need("theirs", place)), "lax");
  EXPECT_THAT(table_.CheckChild(maker, Need("theirs", place)),
              FailsWith(StatusCode::kFailedPrecondition, "workspace_not_allowed"));
  // While the runner is away, so are the children of its sessions.
  table_.Disconnect("strict", now_);
  EXPECT_THAT(table_.CheckChild(maker, Need("", place)),
              FailsWith(StatusCode::kUnavailable, "runner_away"));
  EXPECT_EQ(table_.Assign(Need("s", place, {maker})), "");
  // A child follows the session of its maker to another runner, so that the same rules hold for
  // both.
  EXPECT_THAT(After(kRunnerLease), ElementsAre("m"));
  EXPECT_EQ(table_.Assign(Need("s", place, {maker})), "");
  EXPECT_EQ(table_.Assign(Need("m", place)), "lax");
  EXPECT_EQ(table_.Assign(Need("s", place, {maker})), "lax");
  EXPECT_OK(table_.CheckChild({place, "lax", "m"}, Need("", child)));
  // A child of a session without a runner waits until that session has one.
  const Maker nobodys{place, "", "elsewhere"};
  EXPECT_OK(table_.CheckChild(nobodys, Need("", place)));
  EXPECT_EQ(table_.Assign(Need("u", place, {nobodys})), "");
  EXPECT_EQ(table_.Assign(Need("elsewhere", place)), "lax");
  EXPECT_EQ(table_.Assign(Need("u", place, {nobodys})), "lax");
  // A session of a person may go to any runner.
  EXPECT_EQ(table_.Assign(Need("t", child)), "lax");
}

TEST_F(RunnerTableTest, SessionPromptedByAgentsIsAssignedToTheirRunner) {
  const AgentPlace place{"claude", "/web/app"};
  const Maker own{place, "a", "s"};
  const Maker child{place, "a", "child"};
  const Maker others{place, "b", "other"};
  const Maker above{{"claude", "/web/app/deeper"}, "a", "deeper"};
  Connect(Offer("a"));
  Connect(Offer("b", 100));
  ASSERT_EQ(Assign("more"), "a");
  ASSERT_EQ(Assign("s"), "b");
  table_.Unassign("s");
  for (const std::vector<Maker>& writers :
       {std::vector{own}, std::vector{child}, std::vector{own, child}}) {
    EXPECT_EQ(table_.Assign(Need("s", place, writers)), "a");
    table_.Unassign("s");
  }
  // No runner has the rules of both writers, and a writer whose rules do not allow the place
  // excludes each runner.
  EXPECT_EQ(table_.Assign(Need("s", place, {own, others})), "");
  EXPECT_EQ(table_.Assign(Need("s", place, {above})), "");
  // The rules of the runner count that has the writer's session now.
  ASSERT_EQ(table_.Assign(Need("child", place, {others})), "b");
  EXPECT_EQ(table_.Assign(Need("s", place, {child, others})), "b");
}

}  // namespace
}  // namespace callslip::tracker
