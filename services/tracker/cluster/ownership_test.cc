#include "tracker/cluster/ownership.h"

#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using State = Ownership::State;

// A store that loses requests and answers, is slow, and makes changes after their caller has given
// up, like a database behind a network.
class UnreliableStore final : public CellStore {
 public:
  explicit UnreliableStore(FakeClock* clock) : clock_(clock) {}

  absl::StatusOr<CellState> Read() override {
    Pass();
    if (is_away_) return absl::UnavailableError("away");
    return state_;
  }
  absl::StatusOr<uint64_t> Take(const CellState& seen, const std::string& owner) override {
    uint64_t epoch = 0;
    const absl::Status taken = Change([this, seen, owner, &epoch]() -> absl::Status {
      if (state_.epoch != seen.epoch || state_.beat != seen.beat) return Other();
      state_ = {.epoch = seen.epoch + 1, .beat = seen.beat, .owner = owner, .released = false};
      ++takeovers_;
      epoch = state_.epoch;
      return absl::OkStatus();
    });
    if (!taken.ok()) return taken;
    return seen.epoch + 1;
  }
  absl::Status Beat(uint64_t epoch) override {
    return Change([this, epoch]() -> absl::Status {
      if (state_.epoch != epoch) return Other();
      ++state_.beat;
      return absl::OkStatus();
    });
  }
  absl::Status Release(uint64_t epoch) override {
    return Change([this, epoch]() -> absl::Status {
      if (state_.epoch != epoch) return Other();
      state_.released = true;
      return absl::OkStatus();
    });
  }

  // For callers from now on.
  void SetAway(bool away) { is_away_ = away; }
  void SetUnreliable(std::mt19937_64* random) { random_ = random; }
  // Makes one of the changes whose callers have given up.
  void MakeLateChange() {
    if (late_.empty()) return;
    (void)late_.front()();
    late_.pop_front();
  }

  CellState state_;
  int takeovers_ = 0;

 private:
  static absl::Status Other() { return absl::FailedPreconditionError("another epoch"); }

  bool Chance(double p) {
    return random_ != nullptr && std::uniform_real_distribution<>(0, 1)(*random_) < p;
  }
  void Pass() {
    if (Chance(0.2)) {
      clock_->Advance(absl::Milliseconds(std::uniform_int_distribution<>(1, 900)(*random_)));
    }
  }
  absl::Status Change(std::function<absl::Status()> change) {
    Pass();
    if (is_away_ || Chance(0.1)) return absl::UnavailableError("the request is lost");
    if (Chance(0.05)) {
      late_.push_back(std::move(change));
      return absl::UnavailableError("no answer in time");
    }
    absl::Status made = change();
    Pass();
    if (Chance(0.1)) return absl::UnavailableError("the answer is lost");
    return made;
  }

  FakeClock* const clock_;
  bool is_away_ = false;
  std::mt19937_64* random_ = nullptr;
  std::deque<std::function<absl::Status()>> late_;
};

class OwnershipTest : public testing::Test {
 protected:
  std::unique_ptr<Ownership> New(const std::string& name) {
    return std::make_unique<Ownership>(&clock_, &store_, name);
  }
  // Each of the nodes takes a step at every beat, for `time`.
  void Run(absl::Duration time, const std::vector<Ownership*>& nodes) {
    const absl::Time end = clock_.Now() + time;
    while (clock_.Now() < end) {
      for (Ownership* node : nodes) node->Step();
      clock_.Advance(Ownership::kBeatEvery);
    }
  }
  bool Answers(const Ownership& node) { return clock_.Now() < node.answers_until(); }

  FakeClock clock_;
  UnreliableStore store_{&clock_};
};

TEST_F(OwnershipTest, FirstTrackerOwnsCellAtOnce) {
  const auto a = New("a");
  a->Step();
  EXPECT_EQ(a->state(), State::kWaiting);
  a->Step();
  EXPECT_EQ(a->state(), State::kOwner);
  EXPECT_EQ(a->epoch(), 1u);
  EXPECT_TRUE(Answers(*a));
}

TEST_F(OwnershipTest, BeatingOwnerIsNotReplaced) {
  const auto a = New("a");
  const auto b = New("b");
  Run(absl::Seconds(60), {a.get(), b.get()});
  EXPECT_EQ(a->state(), State::kOwner);
  EXPECT_EQ(b->state(), State::kWatching);
  EXPECT_EQ(store_.takeovers_, 1);
}

TEST_F(OwnershipTest, DeadOwnerIsReplacedWithinThreeSeconds) {
  const auto a = New("a");
  const auto b = New("b");
  const auto c = New("c");
  Run(absl::Seconds(5), {a.get(), b.get(), c.get()});
  ASSERT_EQ(a->state(), State::kOwner);
  Run(absl::Seconds(3), {b.get(), c.get()});
  EXPECT_EQ((b->state() == State::kOwner) + (c->state() == State::kOwner), 1);
  EXPECT_EQ(store_.takeovers_, 2);
  // The earlier owner is back.
  EXPECT_FALSE(Answers(*a));
  a->Step();
  EXPECT_EQ(a->state(), State::kLost);
}

TEST_F(OwnershipTest, EarlierOwnerStopsAnsweringBeforeNextStarts) {
  const auto a = New("a");
  const auto b = New("b");
  Run(absl::Seconds(5), {a.get(), b.get()});
  while (b->state() != State::kOwner) {
    EXPECT_FALSE(Answers(*a) && Answers(*b));
    b->Step();
    clock_.Advance(absl::Milliseconds(50));
  }
  EXPECT_FALSE(Answers(*a));
}

TEST_F(OwnershipTest, ReleasedCellIsTakenOverAtOnce) {
  const auto a = New("a");
  const auto b = New("b");
  Run(absl::Seconds(5), {a.get(), b.get()});
  EXPECT_EQ(b->Step(), clock_.Now() + Ownership::kWatchEvery);
  ASSERT_TRUE(a->Release().ok());
  EXPECT_FALSE(Answers(*a));
  b->Step();
  b->Step();
  EXPECT_EQ(b->state(), State::kOwner);
  EXPECT_TRUE(Answers(*b));
}

TEST_F(OwnershipTest, OwnerPausesWhileStoreIsAwayAndResumes) {
  const auto a = New("a");
  const auto b = New("b");
  Run(absl::Seconds(5), {a.get(), b.get()});
  store_.SetAway(true);
  Run(absl::Seconds(60), {a.get(), b.get()});
  EXPECT_FALSE(Answers(*a));
  EXPECT_EQ(a->state(), State::kOwner);
  EXPECT_FALSE(a->status().ok());
  store_.SetAway(false);
  Run(absl::Seconds(10), {a.get(), b.get()});
  EXPECT_TRUE(Answers(*a));
  EXPECT_EQ(store_.takeovers_, 1);
}

// The frozen tracker has not seen the owner's beats meanwhile, and must not conclude that there
// were none.
TEST_F(OwnershipTest, FrozenTrackerDoesNotJudgeByOldBeats) {
  const auto a = New("a");
  const auto b = New("b");
  Run(absl::Seconds(5), {a.get(), b.get()});
  clock_.Advance(absl::Seconds(20));
  b->Step();
  b->Step();
  EXPECT_EQ(b->state(), State::kWatching);
}

TEST_F(OwnershipTest, TakeoverWithLostAnswerCounts) {
  const auto a = New("a");
  store_.state_ = {.epoch = 7, .beat = 1, .owner = "a", .released = false};
  a->Step();
  EXPECT_EQ(a->state(), State::kWaiting);
  EXPECT_EQ(a->epoch(), 7u);
  EXPECT_FALSE(Answers(*a));
  Run(absl::Seconds(2), {a.get()});
  EXPECT_EQ(a->state(), State::kOwner);
}

// Three trackers with an unreliable store, which freeze or die at random: two never answer at the
// same time, and again and again one does.
TEST_F(OwnershipTest, TwoTrackersNeverAnswerAtOnce) {
  const char* const wanted = std::getenv("CALLSLIP_OWNERSHIP_SCHEDULES");
  const int schedules = wanted == nullptr ? 2000 : std::atoi(wanted);
  int64_t owned = 0;
  for (int schedule = 0; schedule < schedules; ++schedule) {
    SCOPED_TRACE(testing::Message() << "schedule " << schedule);
    std::mt19937_64 random(static_cast<uint64_t>(schedule));
    FakeClock clock;
    UnreliableStore store(&clock);
    store.SetUnreliable(&random);
    int names = 0;
    const auto born = [&] {
      return std::make_unique<Ownership>(&clock, &store, std::to_string(++names));
    };
    std::vector<std::unique_ptr<Ownership>> nodes;
    for (int i = 0; i < 3; ++i) nodes.push_back(born());
    std::vector<absl::Time> next(3, clock.Now());
    for (int step = 0; step < 200; ++step) {
      const auto i = std::uniform_int_distribution<size_t>(0, 2)(random);
      const int what = std::uniform_int_distribution<>(0, 99)(random);
      if (what < 3) {
        nodes[i] = born();  // It dies, and starts again.
      } else if (what < 6) {
        next[i] =
            clock.Now() + absl::Milliseconds(std::uniform_int_distribution<>(500, 9000)(random));
      } else if (what < 8) {
        (void)nodes[i]->Release();
      } else if (what < 12) {
        store.MakeLateChange();
      } else if (clock.Now() >= next[i]) {
        next[i] = std::max(next[i], nodes[i]->Step());
        if (nodes[i]->state() == State::kLost) nodes[i] = born();
      }
      int answering = 0;
      for (const auto& node : nodes) answering += clock.Now() < node->answers_until() ? 1 : 0;
      ASSERT_LE(answering, 1) << "step " << step;
      owned += answering;
      clock.Advance(absl::Milliseconds(std::uniform_int_distribution<>(0, 120)(random)));
    }
  }
  // The trackers did not all wait for each other.
  EXPECT_GT(owned, schedules * 20);
}

}  // namespace
}  // namespace callslip::tracker
