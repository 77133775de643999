#include "tracker/rpc/command_log.h"

#include <string>

#include "common/fake_clock.h"
#include "common/log.h"
#include "common/trace_context.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kManyLines = 50;

const TraceContext kTrace =
    *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

class CommandLogTest : public testing::Test {
 protected:
  CommandLogTest() { InitLogging("test", "info"); }
  ~CommandLogTest() override { InitLogging("test", "error"); }

  void Refuse() {
    log_.Refused("local", v1::RegisterCommandRequest(), InvalidField("type", "is required"));
  }
  void ComeLate() { log_.LateResult("corr-1", CommandState::kExpired, kTrace); }

  FakeClock clock_;
  CommandLog log_{&clock_};
};

TEST_F(CommandLogTest, EachKindOfLineHasItsOwnLimit) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < kManyLines; ++i) Refuse();
  ComeLate();
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, HasSubstr("late result"));
  EXPECT_THAT(written, HasSubstr(R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736")"));
  EXPECT_THAT(written, HasSubstr(R"("span_id":"00f067aa0ba902b7")"));
  EXPECT_THAT(written, HasSubstr(R"("left_out":"0")"));
}

TEST_F(CommandLogTest, OmittedLinesAreCountedInTheNextLineOfTheirKind) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < kManyLines; ++i) Refuse();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr(R"("left_out":"30")")));
  clock_.Advance(absl::Seconds(1));
  testing::internal::CaptureStderr();
  ComeLate();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(R"("left_out":"0")"));
  testing::internal::CaptureStderr();
  Refuse();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(R"("left_out":"30")"));
}

}  // namespace
}  // namespace callslip::tracker
