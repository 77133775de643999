#include "tracker/rpc/runner_stream.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/runner/runner_limits.h"

namespace callslip::tracker {
namespace {

using testing::Le;
using testing::SizeIs;

// A call whose caller reads only on Read().
class SlowStream final : public ServerStream<v1::Assignment> {
 public:
  void SetSource(Source source) override { source_ = std::move(source); }
  void Wake() override {}
  void Finish(const absl::Status& status) override {
    if (!end.has_value()) end = status;
  }
  void OnCallerLeft(std::function<void()> action) override { action_ = std::move(action); }

  std::optional<v1::Assignment> Read() {
    std::optional<Outgoing<v1::Assignment>> next = source_();
    if (!next.has_value()) return std::nullopt;
    return std::move(next->message);
  }

  std::optional<absl::Status> end;

 private:
  Source source_;
  std::function<void()> action_;
};

class RunnerStreamTest : public testing::Test {
 protected:
  RunnerStreamTest() {
    stream_->SetSource([this] { return serve_->Next(); });
  }

  std::vector<std::string> lookups_;  // Of sessions.
  bool gone_ = false;
  bool failing_ = false;
  std::vector<std::function<void()>> later_;
  const std::shared_ptr<SlowStream> stream_ = std::make_shared<SlowStream>();
  const std::shared_ptr<RunnerStream> serve_ = std::make_shared<RunnerStream>(
      stream_,
      [this](const std::string& session_id, const RunnerStream::Found& found) {
        lookups_.push_back(session_id);
        if (failing_) return found(absl::UnavailableError("the disk is busy"));
        v1::Assignment assignment;
        assignment.mutable_session()->set_session_id(session_id);
        found(std::move(assignment));
      },
      [this](std::function<void()> again) { later_.push_back(std::move(again)); },
      [this] { gone_ = true; });
};

TEST_F(RunnerStreamTest, StreamOfARunnerThatDoesNotReadEnds) {
  serve_->Begin();
  for (size_t i = 0; i < kMaxWaitingAssignments - 1; ++i)
    serve_->Release({"s", 7}, "session_ended");
  EXPECT_FALSE(stream_->end.has_value());
  EXPECT_TRUE(stream_->Read()->has_started());
  serve_->Release({"s", 7}, "session_ended");
  EXPECT_FALSE(stream_->end.has_value());
  serve_->Release({"s", 7}, "session_ended");
  ASSERT_TRUE(stream_->end.has_value());
  EXPECT_EQ(DetailsOf(*stream_->end).reason, "too_slow");
  EXPECT_TRUE(gone_);
  EXPECT_FALSE(stream_->Read().has_value());
}

TEST_F(RunnerStreamTest, TemporarilyUnreadableSessionIsSentLater) {
  serve_->Begin();
  EXPECT_TRUE(stream_->Read()->has_started());
  failing_ = true;
  v1::AgentControl stop;
  stop.set_action(v1::AGENT_ACTION_STOP);
  serve_->Control("s", stop, nullptr);
  serve_->Need("t");
  EXPECT_FALSE(stream_->Read().has_value());
  failing_ = false;
  ASSERT_THAT(later_, SizeIs(2));
  for (const auto& again : std::exchange(later_, {})) again();
  EXPECT_EQ(stream_->Read()->control().action(), v1::AGENT_ACTION_STOP);
  EXPECT_TRUE(stream_->Read()->has_needed());
  EXPECT_FALSE(stream_->Read().has_value());
}

TEST_F(RunnerStreamTest, ControlsOfASessionKeepTheirOrder) {
  serve_->Begin();
  EXPECT_TRUE(stream_->Read()->has_started());
  for (const auto action : {v1::AGENT_ACTION_STOP, v1::AGENT_ACTION_START}) {
    failing_ = action == v1::AGENT_ACTION_STOP;
    v1::AgentControl control;
    control.set_action(action);
    serve_->Control("s", control, nullptr);
  }
  EXPECT_FALSE(stream_->Read().has_value());
  ASSERT_THAT(later_, SizeIs(1));
  std::exchange(later_, {})[0]();
  EXPECT_EQ(stream_->Read()->control().action(), v1::AGENT_ACTION_STOP);
  EXPECT_EQ(stream_->Read()->control().action(), v1::AGENT_ACTION_START);
}

TEST_F(RunnerStreamTest, ControlIsDroppedAfterRepeatedFailures) {
  serve_->Begin();
  EXPECT_TRUE(stream_->Read()->has_started());
  failing_ = true;
  serve_->Control("s", {}, nullptr);
  while (!later_.empty()) {
    for (const auto& again : std::exchange(later_, {})) again();
    ASSERT_THAT(lookups_, SizeIs(Le(8)));
  }
  EXPECT_THAT(lookups_, SizeIs(7));
  failing_ = false;
  EXPECT_FALSE(stream_->Read().has_value());
}

TEST_F(RunnerStreamTest, ControlsCountTowardsTheLimit) {
  serve_->Begin();
  for (size_t i = 0; i <= kMaxWaitingAssignments; ++i) serve_->Control("s", {}, nullptr);
  ASSERT_TRUE(stream_->end.has_value());
  EXPECT_EQ(DetailsOf(*stream_->end).reason, "too_slow");
}

TEST_F(RunnerStreamTest, WaitingSessionsAreStoredOnlyAsIds) {
  serve_->Begin();
  for (size_t i = 0; i < kMaxRunnerSessions; ++i) serve_->Need(absl::StrCat(i));
  EXPECT_FALSE(stream_->end.has_value());
  EXPECT_LT(lookups_.size(), 20u);
  EXPECT_TRUE(stream_->Read()->has_started());
  for (size_t i = 0; i < kMaxRunnerSessions; ++i) {
    const auto next = stream_->Read();
    ASSERT_TRUE(next.has_value() && next->has_needed());
    EXPECT_EQ(next->session().session_id(), absl::StrCat(i));
  }
  EXPECT_EQ(lookups_.size(), kMaxRunnerSessions);
}

TEST_F(RunnerStreamTest, ReleasesBeforeTheStreamStartsAreNotLimited) {
  for (size_t i = 0; i < kMaxRunnerSessions; ++i) serve_->Release({"s", 7}, "session_deleted");
  serve_->Begin();
  EXPECT_FALSE(stream_->end.has_value());
}

TEST_F(RunnerStreamTest, ControlIsReportedAsSentWhenItIsRead) {
  serve_->Begin();
  int sent = 0;
  serve_->Control("s", {}, [&sent] { ++sent; });
  EXPECT_TRUE(stream_->Read()->has_started());
  EXPECT_EQ(sent, 0);
  EXPECT_TRUE(stream_->Read()->has_control());
  EXPECT_EQ(sent, 1);
  serve_->OnCallerLeft();
  EXPECT_TRUE(gone_);
  serve_->Control("s", {}, [&sent] { ++sent; });
  EXPECT_FALSE(stream_->Read().has_value());
  EXPECT_EQ(sent, 1);
}

}  // namespace
}  // namespace callslip::tracker
