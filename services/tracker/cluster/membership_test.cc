// Outputs of a tracker that shares its cell, before and after the end of its lease.
#include "tracker/cluster/membership.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

// A cell that every tracker gets, unless the store is away.
class FreeCell final : public CellStore {
 public:
  explicit FreeCell(const std::atomic<bool>* is_away) : is_away_(is_away) {}

  absl::StatusOr<CellState> Read() override {
    if (*is_away_) return absl::UnavailableError("away");
    return CellState();
  }
  absl::StatusOr<uint64_t> Take(const CellState&, const std::string&) override { return 1; }
  absl::Status Beat(uint64_t) override {
    return *is_away_ ? absl::UnavailableError("away") : absl::OkStatus();
  }
  absl::Status Release(uint64_t) override { return absl::OkStatus(); }

 private:
  const std::atomic<bool>* const is_away_;
};

// Keeps the output until the test lets it out.
class SlowGate final : public OutputGate {
 public:
  bool IsOpen() const override { return is_open; }
  void Pass(Output output) override { waiting = std::move(output); }
  void BeginBatch() override {}
  void EndBatch() override {}

  bool is_open = true;
  Output waiting;
};

class LeasedGateTest : public testing::Test {
 protected:
  LeasedGateTest() {
    membership_.emplace(&clock_, std::make_unique<FreeCell>(&is_away_), "a", [] {});
    while (!membership_->MayAnswer()) {
      clock_.AwaitSleep();
      clock_.Advance(Ownership::kBeatEvery);
    }
    clock_.AwaitSleep();
  }

  // The last beat was `since_beat` ago. From now on the store is away.
  void LetPass(absl::Duration since_beat) {
    is_away_ = true;
    clock_.Advance(since_beat);
  }

  // Stores the status of the output once it is let out.
  static OutputGate::Output Into(std::optional<absl::Status>& how) {
    return [&how](const absl::Status& kept) { how = kept; };
  }

  FakeClock clock_;
  std::atomic<bool> is_away_ = false;
  std::optional<Membership> membership_;
};

TEST_F(LeasedGateTest, NothingIsAnsweredAfterLeaseEnds) {
  LeasedGate gate(&*membership_, nullptr);
  std::optional<absl::Status> in_time;
  LetPass(Ownership::kLease - absl::Nanoseconds(1));
  EXPECT_TRUE(gate.IsOpen());
  gate.Pass(Into(in_time));
  EXPECT_EQ(in_time, absl::OkStatus());
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_FALSE(gate.IsOpen());
  std::optional<absl::Status> late;
  gate.Pass(Into(late));
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->code(), absl::StatusCode::kUnavailable);
}

TEST_F(LeasedGateTest, OutputStoredAfterLeaseEndsIsNotAnswered) {
  SlowGate storing;
  LeasedGate gate(&*membership_, &storing);
  std::optional<absl::Status> answer;
  gate.Pass(Into(answer));
  EXPECT_FALSE(answer.has_value());
  LetPass(Ownership::kLease);
  storing.waiting(absl::OkStatus());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(gate.IsOpen());
}

TEST_F(LeasedGateTest, OutputStoredInTimeGetsStatusOfInnerGate) {
  SlowGate storing;
  LeasedGate gate(&*membership_, &storing);
  EXPECT_TRUE(gate.IsOpen());
  storing.is_open = false;
  EXPECT_FALSE(gate.IsOpen());
  std::optional<absl::Status> answer;
  gate.Pass(Into(answer));
  storing.waiting(absl::OkStatus());
  EXPECT_EQ(answer, absl::OkStatus());
  gate.Pass(Into(answer));
  storing.waiting(absl::DataLossError("broken"));
  EXPECT_EQ(answer, absl::DataLossError("broken"));
}

TEST_F(LeasedGateTest, ReopensAfterNextBeat) {
  LeasedGate gate(&*membership_, nullptr);
  LetPass(Ownership::kLease);
  EXPECT_FALSE(gate.IsOpen());
  is_away_ = false;
  clock_.AwaitSleep();
  clock_.Advance(Ownership::kBeatEvery);
  clock_.AwaitSleep();
  EXPECT_TRUE(gate.IsOpen());
}

}  // namespace
}  // namespace callslip::tracker
