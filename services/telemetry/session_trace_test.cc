#include "telemetry/session_trace.h"

#include <cmath>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "telemetry/sampler.h"
#include "telemetry/testing/fake_span_sink.h"

namespace callslip {
namespace {

constexpr absl::Time kCreated = absl::FromUnixSeconds(1'800'000'000);

TEST(SessionTrace, IsSameForEveryCaller) {
  const FakeSpanSink sink;
  const TraceContext trace = TraceOfSession("s", kCreated);
  EXPECT_EQ(TraceOfSession("s", kCreated + absl::Milliseconds(900)), trace);
  EXPECT_EQ(TraceContext::Parse(trace.ToString()), trace);
  EXPECT_TRUE(trace.sampled());
}

TEST(SessionTrace, IsDifferentForEachSession) {
  const FakeSpanSink sink;
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(std::string(TraceOfSession(absl::StrCat("s", i), kCreated).trace_id()));
  }
  EXPECT_EQ(seen.size(), 1000);
  EXPECT_NE(TraceOfSession("s", kCreated), TraceOfSession("s", kCreated + absl::Seconds(1)));
}

TEST(SessionTrace, IsSampledAsRootTrace) {
  const FakeSpanSink sink(*Sampler::Of("parentbased_traceidratio", "0.1"));
  int sampled = 0;
  for (int i = 0; i < 10'000; ++i) {
    sampled += TraceOfSession(absl::StrCat("s", i), kCreated).sampled() ? 1 : 0;
  }
  // Six standard deviations.
  EXPECT_LE(std::abs(sampled - 1000), 180);
}

TEST(SessionTrace, IsEmptyWhenNothingIsRecorded) {
  EXPECT_TRUE(TraceOfSession("s", kCreated).empty());
}

}  // namespace
}  // namespace callslip
