#include "tracker/domain/command/command_state.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using State = CommandState;
using Event = CommandEvent;

// Written out pair by pair, independently of the table under test: anything absent is illegal.
const std::map<std::pair<State, Event>, State>& LegalSteps() {
  static const auto& steps = *new std::map<std::pair<State, Event>, State>{
      {{State::kQueued, Event::kDeliver}, State::kDelivered},
      {{State::kQueued, Event::kAcknowledge}, State::kRunning},
      {{State::kQueued, Event::kComplete}, State::kCompleted},
      {{State::kQueued, Event::kFail}, State::kFailed},
      {{State::kQueued, Event::kTimeOut}, State::kTimedOut},
      {{State::kQueued, Event::kExpire}, State::kExpired},
      {{State::kQueued, Event::kCancel}, State::kCancelled},
      {{State::kDelivered, Event::kAcknowledge}, State::kRunning},
      {{State::kDelivered, Event::kReturnToQueue}, State::kQueued},
      {{State::kDelivered, Event::kComplete}, State::kCompleted},
      {{State::kDelivered, Event::kFail}, State::kFailed},
      {{State::kDelivered, Event::kTimeOut}, State::kTimedOut},
      {{State::kDelivered, Event::kExpire}, State::kExpired},
      {{State::kDelivered, Event::kCancel}, State::kCancelled},
      {{State::kRunning, Event::kAcknowledge}, State::kRunning},
      {{State::kRunning, Event::kComplete}, State::kCompleted},
      {{State::kRunning, Event::kFail}, State::kFailed},
      {{State::kRunning, Event::kTimeOut}, State::kTimedOut},
      {{State::kRunning, Event::kExpire}, State::kExpired},
      {{State::kRunning, Event::kCancel}, State::kCancelled},
      {{State::kCompleted, Event::kForgetResult}, State::kExpired},
  };
  return steps;
}

TEST(CommandStateTest, EveryStateAndEventFollowsLifeCycle) {
  for (int s = 0; s < kCommandStateCount; ++s) {
    for (int e = 0; e < kCommandEventCount; ++e) {
      const auto state = static_cast<State>(s);
      const auto event = static_cast<Event>(e);
      const auto legal = LegalSteps().find({state, event});
      const auto next = NextState(state, event);
      ASSERT_EQ(next.has_value(), legal != LegalSteps().end())
          << CommandStateName(state) << ", event " << e;
      if (next.has_value()) {
        EXPECT_EQ(*next, legal->second);
      }
    }
  }
}

TEST(CommandStateTest, FiveEndStatesAreTerminal) {
  EXPECT_FALSE(IsTerminal(State::kQueued));
  EXPECT_FALSE(IsTerminal(State::kDelivered));
  EXPECT_FALSE(IsTerminal(State::kRunning));
  EXPECT_TRUE(IsTerminal(State::kCompleted));
  EXPECT_TRUE(IsTerminal(State::kFailed));
  EXPECT_TRUE(IsTerminal(State::kTimedOut));
  EXPECT_TRUE(IsTerminal(State::kExpired));
  EXPECT_TRUE(IsTerminal(State::kCancelled));
}

TEST(CommandStateTest, EveryStateHasItsName) {
  std::vector<std::string> names;
  for (int s = 0; s < kCommandStateCount; ++s) {
    names.emplace_back(CommandStateName(static_cast<State>(s)));
  }
  EXPECT_THAT(names, testing::ElementsAre("queued", "delivered", "running", "completed", "failed",
                                          "timed_out", "expired", "cancelled"));
}

}  // namespace
}  // namespace callslip::tracker
