#include "runner/session/agent_life.h"

#include <map>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using Phase = AgentPhase;
using Event = LifeEvent;

// Written out pair by pair, independently of the table under test: anything absent changes nothing.
const std::map<std::pair<Phase, Event>, Phase>& Steps() {
  static const auto& steps = *new std::map<std::pair<Phase, Event>, Phase>{
      {{Phase::kAsleep, Event::kNeed}, Phase::kPausing},
      {{Phase::kFailed, Event::kNeed}, Phase::kPausing},
      {{Phase::kStopping, Event::kNeed}, Phase::kRestarting},
      {{Phase::kPausing, Event::kDue}, Phase::kWaiting},
      {{Phase::kWaiting, Event::kBegin}, Phase::kStarting},
      {{Phase::kStarting, Event::kReady}, Phase::kRunning},
      {{Phase::kPausing, Event::kStop}, Phase::kAsleep},
      {{Phase::kWaiting, Event::kStop}, Phase::kAsleep},
      {{Phase::kStarting, Event::kStop}, Phase::kStopping},
      {{Phase::kRunning, Event::kStop}, Phase::kStopping},
      {{Phase::kRestarting, Event::kStop}, Phase::kStopping},
      {{Phase::kStarting, Event::kYield}, Phase::kStopping},
      {{Phase::kRunning, Event::kYield}, Phase::kStopping},
      {{Phase::kAsleep, Event::kRestart}, Phase::kPausing},
      {{Phase::kFailed, Event::kRestart}, Phase::kPausing},
      {{Phase::kStarting, Event::kRestart}, Phase::kRestarting},
      {{Phase::kRunning, Event::kRestart}, Phase::kRestarting},
      {{Phase::kStopping, Event::kRestart}, Phase::kRestarting},
      {{Phase::kStarting, Event::kEnd}, Phase::kPausing},
      {{Phase::kRunning, Event::kEnd}, Phase::kAsleep},
      {{Phase::kStopping, Event::kEnd}, Phase::kAsleep},
      {{Phase::kRestarting, Event::kEnd}, Phase::kPausing},
      {{Phase::kStarting, Event::kGiveUp}, Phase::kFailed},
      {{Phase::kRunning, Event::kGiveUp}, Phase::kFailed},
  };
  return steps;
}

TEST(AgentLifeTest, EveryTransitionFollowsTheTable) {
  for (int p = 0; p < kAgentPhaseCount; ++p) {
    for (int e = 0; e < kLifeEventCount; ++e) {
      const auto found = Steps().find({static_cast<Phase>(p), static_cast<Event>(e)});
      const auto next = NextPhase(static_cast<Phase>(p), static_cast<Event>(e));
      ASSERT_EQ(next.has_value(), found != Steps().end()) << "phase " << p << ", event " << e;
      if (next.has_value()) {
        EXPECT_EQ(*next, found->second) << "phase " << p << ", event " << e;
      }
    }
  }
}

constexpr absl::Time kNow = absl::FromUnixSeconds(1'769'947'200);
constexpr double kMiddle = 0.5;
const AgentError& Crash() {
  static const auto& crash = *new AgentError{"agent_crashed", "it has ended"};
  return crash;
}

class LifeOfAnAgent : public testing::Test {
 protected:
  void Start() {
    life_.Need(kNow);
    life_.Begin();
  }
  void Run() {
    Start();
    life_.Ready();
  }
  void End(const AgentError& why = Crash()) { life_.End(why, kNow, kMiddle); }

  AgentLife life_;
};

TEST_F(LifeOfAnAgent, GoesFromAsleepToRunningAndBack) {
  EXPECT_TRUE(life_.is_at_rest());
  life_.Need(kNow);
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
  life_.Begin();
  EXPECT_EQ(life_.phase(), Phase::kStarting);
  life_.Ready();
  EXPECT_EQ(life_.phase(), Phase::kRunning);
  life_.Stop();
  EXPECT_EQ(life_.phase(), Phase::kStopping);
  End({});
  EXPECT_EQ(life_.phase(), Phase::kAsleep);
  EXPECT_FALSE(life_.stays_stopped());
  EXPECT_FALSE(life_.Remembers(kNow));
}

TEST_F(LifeOfAnAgent, FailedStartIsRepeatedUpToTheLimit) {
  life_.Need(kNow);
  for (int i = 0; i < AgentRestarts::kMaxRestarts; ++i) {
    ASSERT_EQ(life_.phase(), i == 0 || i == 1 ? Phase::kWaiting : Phase::kPausing) << i;
    if (i > 1) {
      EXPECT_EQ(life_.start_time(), kNow + absl::Seconds(1 << (i - 2)));
      life_.PauseIsOver();
    }
    life_.Begin();
    End();
    EXPECT_EQ(life_.last_end().reason, "agent_crashed");
  }
  life_.PauseIsOver();
  life_.Begin();
  End();
  EXPECT_EQ(life_.phase(), Phase::kFailed);
  EXPECT_TRUE(life_.is_at_rest());
  // A later request gives the agent all its starts again.
  life_.Need(kNow);
  life_.Begin();
  End();
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
}

TEST_F(LifeOfAnAgent, PermanentlyFailingAgentIsNotStartedAgain) {
  for (const char* reason :
       {"command_missing", "not_executable", "directory_unusable", "auth_required",
        "initialize_refused", "unsupported_version", "cannot_restore"}) {
    life_ = AgentLife();
    Start();
    End({reason, "so it is"});
    EXPECT_EQ(life_.phase(), Phase::kFailed) << reason;
    EXPECT_EQ(life_.last_end().reason, reason);
    EXPECT_FALSE(life_.Remembers(kNow)) << reason;
  }
}

TEST_F(LifeOfAnAgent, AgentThatEndsIsStartedAgainWhenNeeded) {
  Run();
  End();
  EXPECT_EQ(life_.phase(), Phase::kAsleep);
  life_.Need(kNow);
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
  life_.Begin();
  life_.Ready();
  EXPECT_TRUE(life_.last_end().reason.empty());
  // The second end in a row without a finished turn.
  End();
  life_.Need(kNow);
  EXPECT_EQ(life_.phase(), Phase::kPausing);
  life_.Need(kNow + absl::Seconds(1));
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
  life_.Begin();
  life_.Ready();
  life_.EndedTurn();
  End();
  life_.Need(kNow);
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
}

TEST_F(LifeOfAnAgent, ExplicitStartSkipsPause) {
  Run();
  End();
  Run();
  End();
  life_.Need(kNow);
  ASSERT_EQ(life_.phase(), Phase::kPausing);
  life_.Start(kNow);
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
}

TEST_F(LifeOfAnAgent, RestartEndsAgentAndStartsNextAtOnce) {
  for (const bool is_ready : {false, true}) {
    life_ = AgentLife();
    Start();
    if (is_ready) life_.Ready();
    life_.Restart(kNow);
    EXPECT_EQ(life_.phase(), Phase::kRestarting);
    End();
    EXPECT_EQ(life_.phase(), Phase::kWaiting);
    EXPECT_TRUE(life_.last_end().reason.empty());
  }
}

TEST_F(LifeOfAnAgent, WaitingAgentKeepsItsPlaceAtRestart) {
  life_.Need(kNow);
  life_.Restart(kNow);
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
}

// Its room will be free soon anyway, and the next start waits for its turn.
TEST_F(LifeOfAnAgent, YieldDoesNotCancelRestart) {
  Run();
  life_.Restart(kNow);
  life_.Yield();
  EXPECT_EQ(life_.phase(), Phase::kRestarting);
  End({});
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
  life_.Yield();
  EXPECT_EQ(life_.phase(), Phase::kWaiting);
}

TEST_F(LifeOfAnAgent, LatestRequestCountsWhileAgentEnds) {
  Run();
  life_.Stop();
  life_.Need(kNow);
  EXPECT_EQ(life_.phase(), Phase::kRestarting);
  life_.StayStopped();
  EXPECT_EQ(life_.phase(), Phase::kStopping);
  End({});
  EXPECT_EQ(life_.phase(), Phase::kAsleep);
  EXPECT_TRUE(life_.stays_stopped());
  life_.Need(kNow);
  EXPECT_FALSE(life_.stays_stopped());
}

TEST_F(LifeOfAnAgent, AgentStoppedDuringStartHasNotFailed) {
  Start();
  life_.StayStopped();
  End({"start_timeout", "too late"});
  EXPECT_EQ(life_.phase(), Phase::kAsleep);
  EXPECT_FALSE(life_.Remembers(kNow));
}

}  // namespace
}  // namespace callslip::runner
