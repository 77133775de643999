#include "runner/running_agents.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Step = AgentStep;
constexpr auto kStart = AgentStep::Kind::kStart;
constexpr auto kJoin = AgentStep::Kind::kJoin;
constexpr auto kStop = AgentStep::Kind::kStop;

class RunningAgentsTest : public testing::Test {
 protected:
  static AgentWant In(const std::string& session, const std::string& workspace, int max = 100,
                      int per_process = 1) {
    return {.session = session,
            .agent = "opencode",
            .workspace = workspace,
            .sessions_per_process = per_process,
            .max_running = max};
  }
  void Want(const std::string& session) { agents_.Want(In(session, "web"), now_); }
  void Run(const std::string& session) {
    agents_.Started(session, now_);
    agents_.Busy(session, true, now_);
  }
  // The session has had a turn.
  void Rest(const std::string& session) { agents_.Busy(session, false, now_); }
  void StartIdle(const std::string& session) {
    Want(session);
    ASSERT_EQ(agents_.Next(now_).size(), 1u);
    Run(session);
    Rest(session);
    now_ += absl::Seconds(1);
  }
  std::vector<Step> Next() { return agents_.Next(now_); }

  absl::Time now_ = absl::UnixEpoch();
  RunningAgents agents_{{.running_agents = 3, .starting_agents = 2}};
};

TEST_F(RunningAgentsTest, StartsInOrderAndWithinLimits) {
  for (const char* session : {"a", "b", "c", "d"}) Want(session);
  Want("c");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "a", 1}, Step{kStart, "b", 2}));
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_EQ(agents_.PlaceOf("d"), 2u);
  EXPECT_EQ(agents_.PlaceOf("a"), 0u);
  Run("b");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "c", 3}));
  Run("a");
  EXPECT_THAT(Next(), IsEmpty());  // Three run.
  agents_.Ended("a");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "d", 4}));
}

TEST_F(RunningAgentsTest, LeastRecentlyUsedIdleAgentMakesRoom) {
  for (const char* session : {"a", "b", "c"}) StartIdle(session);
  agents_.Busy("a", false, now_);
  Want("d");
  EXPECT_THAT(Next(), ElementsAre(Step{kStop, "b", 2}));
  EXPECT_THAT(Next(), IsEmpty());  // One is enough.
  agents_.Ended("b");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "d", 4}));
}

TEST_F(RunningAgentsTest, AgentWithTurnOrWorkIsNotStopped) {
  for (const char* session : {"a", "b", "c"}) StartIdle(session);
  agents_.Busy("a", true, now_);
  agents_.Busy("b", true, now_);
  Want("c");  // A message for it has come.
  Want("d");
  EXPECT_THAT(Next(), IsEmpty());
  agents_.Busy("c", true, now_);
  EXPECT_THAT(Next(), IsEmpty());
  Rest("a");
  EXPECT_THAT(Next(), ElementsAre(Step{kStop, "a", 1}));
}

TEST_F(RunningAgentsTest, NoAgentIsStoppedForOneThatCannotStartYet) {
  StartIdle("idle");
  Want("a");
  Want("b");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "a", 2}, Step{kStart, "b", 3}));
  Want("c");
  EXPECT_THAT(Next(), IsEmpty());  // Two start already.
  Run("a");
  EXPECT_THAT(Next(), ElementsAre(Step{kStop, "idle", 1}));
}

TEST_F(RunningAgentsTest, ReadySessionIsNotStoppedBeforeItsFirstTurn) {
  for (const char* session : {"a", "b", "c", "d"}) Want(session);
  Next();
  agents_.Started("a", now_);
  agents_.Started("b", now_);
  Next();
  agents_.Started("c", now_);
  EXPECT_THAT(Next(), IsEmpty());
  agents_.Busy("b", false, now_);  // Its message was removed from the queue.
  EXPECT_THAT(Next(), ElementsAre(Step{kStop, "b", 2}));
}

TEST_F(RunningAgentsTest, IdleAgentIsStoppedAfterTimeout) {
  StartIdle("a");
  StartIdle("b");
  agents_.Busy("b", true, now_);
  const absl::Time due = absl::UnixEpoch() + absl::Minutes(15);
  EXPECT_EQ(agents_.NextTime(), due);
  EXPECT_THAT(agents_.Next(due - absl::Nanoseconds(1)), IsEmpty());
  EXPECT_THAT(agents_.Next(due), ElementsAre(Step{kStop, "a", 1}));
  agents_.Ended("a");
  EXPECT_EQ(agents_.NextTime(), absl::InfiniteFuture());  // b has a turn.
}

TEST_F(RunningAgentsTest, WorkForStoppingAgentWaitsForItsEnd) {
  for (const char* session : {"a", "b", "c"}) StartIdle(session);
  Want("d");
  EXPECT_THAT(Next(), ElementsAre(Step{kStop, "a", 1}));
  Want("a");
  EXPECT_EQ(agents_.PlaceOf("a"), 2u);
  EXPECT_THAT(Next(), IsEmpty());
  agents_.Ended("a");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "d", 4}, Step{kStop, "b", 2}));
  agents_.Ended("b");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "a", 5}));
}

TEST_F(RunningAgentsTest, DroppedSessionLeavesQueueOrIsStopped) {
  Want("a");
  Want("b");
  agents_.Drop("b");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "a", 1}));
  agents_.Drop("a");
  EXPECT_THAT(Next(), ElementsAre(Step{kStop, "a", 1}));
  agents_.Ended("a");
  agents_.Ended("a");
  EXPECT_EQ(agents_.processes(), 0u);
}

TEST_F(RunningAgentsTest, FullWorkspaceDoesNotDelayOthers) {
  agents_.Want(In("a", "web", 1), now_);
  agents_.Want(In("b", "web", 1), now_);
  agents_.Want(In("c", "app", 1), now_);
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "a", 1}, Step{kStart, "c", 2}));
  Run("a");
  Run("c");
  EXPECT_THAT(Next(), IsEmpty());
  Rest("c");  // Of another workspace.
  EXPECT_THAT(Next(), IsEmpty());
  Rest("a");
  EXPECT_THAT(Next(), ElementsAre(Step{kStop, "a", 1}));
}

TEST_F(RunningAgentsTest, SessionsShareAProcessWithRoom) {
  for (const char* session : {"a", "b", "c", "d"}) agents_.Want(In(session, "web", 9, 2), now_);
  agents_.Want({.session = "e", .agent = "another", .workspace = "web", .sessions_per_process = 2},
               now_);
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "a", 1}, Step{kStart, "c", 2}));
  Run("a");
  EXPECT_THAT(Next(), ElementsAre(Step{kJoin, "b", 1}, Step{kStart, "e", 3}));
  Run("b");
  Run("c");
  EXPECT_THAT(Next(), ElementsAre(Step{kJoin, "d", 2}));
  Run("d");
  Run("e");
  Rest("a");
  Want("f");
  EXPECT_THAT(Next(), IsEmpty());  // b has a turn in the same process.
  now_ += absl::Seconds(1);
  Rest("b");
  EXPECT_THAT(Next(), ElementsAre(Step{kStop, "a", 1}, Step{kStop, "b", 1}));
  agents_.Ended("a");
  EXPECT_THAT(Next(), IsEmpty());
  agents_.Ended("b");
  EXPECT_THAT(Next(), ElementsAre(Step{kStart, "f", 4}));
}

// Sessions come and have turns, and agents fail, in random order. Each step is followed by a check
// of the invariants. In the end each session must have had all its turns.
class RunningAgentsModel {
 public:
  explicit RunningAgentsModel(unsigned seed) : dice_(seed) {
    limits_.running_agents = 1 + Roll(8);
    limits_.starting_agents = 1 + Roll(3);
    per_process_ = Roll(2) == 0 ? 1 : 1 + Roll(4);
    max_running_ = 1 + Roll(limits_.running_agents);
    limits_.idle_stop = absl::Hours(1'000);  // Longer than a whole run.
  }

  void Run() {
    RunningAgents agents(limits_);
    std::vector<std::string> names;
    for (int i = 0; i < 50; ++i) names.push_back(absl::StrCat("session-", i));
    for (const std::string& name : names) {
      turns_left_[name] = 1 + Roll(3);
      Ask(agents, name);
    }
    for (int moves = 0; !turns_left_.empty(); ++moves) {
      ASSERT_LT(moves, 100'000) << "somebody waits for ever: " << turns_left_.begin()->first;
      Do(agents.Next(now_));
      if (testing::Test::HasFailure()) return;
      now_ += absl::Seconds(Roll(60));
      ASSERT_FALSE(has_.empty()) << "all wait, and nobody is next";
      Move(agents, std::next(has_.begin(), Roll(static_cast<int>(has_.size())))->first);
    }
    // Then all agents stop because they are idle.
    now_ += absl::Hours(2'000);
    for (int round = 0; round < 1'000 && !has_.empty(); ++round) {
      Do(agents.Next(now_));
      for (const std::string& name : names) Move(agents, name);
      now_ += absl::Minutes(1);
    }
    EXPECT_THAT(has_, IsEmpty());
    EXPECT_EQ(agents.processes(), 0u);
  }

 private:
  enum class State { kStarting, kReady, kTurn, kIdle, kStopping };
  struct Has {
    int64_t process;
    State state;
  };

  int Roll(int sides) { return static_cast<int>(dice_() % static_cast<unsigned>(sides)); }
  std::string WorkspaceOf(const std::string& name) { return name.back() < '5' ? "web" : "app"; }

  void Ask(RunningAgents& agents, const std::string& name) {
    agents.Want({.session = name,
                 .agent = "agent",
                 .workspace = WorkspaceOf(name),
                 .sessions_per_process = per_process_,
                 .max_running = max_running_},
                now_);
    if (!has_.contains(name) && !waits_.contains(name)) waits_[name] = ++last_place_;
  }

  void Do(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (step.kind == kStop) {
        ASSERT_TRUE(has_.contains(step.session));
        Has& has = has_[step.session];
        ASSERT_EQ(has.process, step.process);
        // No session is stopped in a turn, or before its first one.
        ASSERT_TRUE(has.state == State::kIdle) << static_cast<int>(has.state);
        has.state = State::kStopping;
        continue;
      }
      ASSERT_FALSE(has_.contains(step.session));
      ASSERT_TRUE(waits_.contains(step.session));
      if (step.kind == kStart) ExpectFirst(step.session);
      waits_.erase(step.session);
      has_[step.session] = {step.process, State::kStarting};
      if (step.kind == kStart) started_[step.process] = false;
      ASSERT_TRUE(step.kind != kJoin || started_.at(step.process));
    }
    ExpectWithinLimits();
  }

  // Within a workspace, sessions start in order, unless they share processes.
  void ExpectFirst(const std::string& name) {
    if (per_process_ > 1) return;
    for (const auto& [other, place] : waits_) {
      if (place >= waits_[name] || WorkspaceOf(other) != WorkspaceOf(name)) continue;
      ADD_FAILURE() << other << " has waited for longer than " << name;
    }
  }

  void ExpectWithinLimits() {
    std::map<int64_t, int> sessions;
    std::map<std::string, std::set<int64_t>> in_workspace;
    std::set<int64_t> starting;
    for (const auto& [name, has] : has_) {
      ASSERT_LE(++sessions[has.process], per_process_);
      in_workspace[WorkspaceOf(name)].insert(has.process);
      if (!started_[has.process] && has.state != State::kStopping) starting.insert(has.process);
    }
    ASSERT_LE(static_cast<int>(sessions.size()), limits_.running_agents);
    ASSERT_LE(static_cast<int>(starting.size()), limits_.starting_agents);
    for (const auto& [workspace, processes] : in_workspace) {
      ASSERT_LE(static_cast<int>(processes.size()), max_running_);
    }
  }

  void Move(RunningAgents& agents, std::string name) {
    const auto found = has_.find(name);
    if (found == has_.end()) return;
    State& state = found->second.state;
    switch (state) {
      case State::kStarting:
        if (Roll(10) == 0) return Fail(agents, found->second.process);
        agents.Started(name, now_);
        started_[found->second.process] = true;
        state = State::kReady;
        return;
      case State::kReady:
        state = turns_left_.contains(name) ? State::kTurn : State::kIdle;
        agents.Busy(name, state == State::kTurn, now_);
        return;
      case State::kTurn:
        if (Roll(20) == 0) return Fail(agents, found->second.process);
        if (--turns_left_[name] == 0) turns_left_.erase(name);
        agents.Busy(name, false, now_);
        state = State::kIdle;
        return;
      case State::kIdle:
        if (!turns_left_.contains(name)) return;
        Ask(agents, name);
        state = State::kReady;
        return;
      case State::kStopping:
        agents.Ended(name);
        has_.erase(found);
        if (turns_left_.contains(name)) Ask(agents, name);
        return;
    }
  }

  // A process ends with all its sessions. Those with turns left ask for another one.
  void Fail(RunningAgents& agents, int64_t process) {
    std::vector<std::string> lost;
    for (const auto& [name, has] : has_) {
      if (has.process == process) lost.push_back(name);
    }
    for (const std::string& name : lost) {
      agents.Ended(name);
      has_.erase(name);
      if (turns_left_.contains(name)) Ask(agents, name);
    }
  }

  std::mt19937 dice_;
  AgentLimits limits_;
  int per_process_ = 1;
  int max_running_ = 1;
  absl::Time now_ = absl::UnixEpoch();
  int last_place_ = 0;
  std::map<std::string, int> turns_left_;
  std::map<std::string, int> waits_;  // And their order.
  std::map<std::string, Has> has_;
  std::map<int64_t, bool> started_;
};

TEST(RunningAgentsModelTest, FiftySessionsGetTheirTurnsWithinLimits) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RunningAgentsModel(seed).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace callslip::runner
