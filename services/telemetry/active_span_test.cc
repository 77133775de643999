#include "telemetry/active_span.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/testing/fake_span_sink.h"

namespace callslip {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TraceContext kSampled =
    *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
const TraceContext kUnsampled = kSampled.WithSampled(false);

TEST(ActiveSpanTest, NothingHappensWithoutSink) {
  TraceContext context = kSampled;
  ActiveSpan span = ActiveSpan::Start(SpanKind::kServer, "a", context);
  EXPECT_FALSE(span);
  EXPECT_EQ(context, kSampled);
  span.Set("key", int64_t{1});
  span.Link(kSampled);
  span.Fail("code");
  span.End();
  TraceContext none;
  EXPECT_FALSE(ActiveSpan::Start(SpanKind::kServer, "a", none, ActiveSpan::Roots::kBegin));
  EXPECT_TRUE(none.empty());
}

TEST(ActiveSpanTest, JoinsTraceAndIsParentOfNextSpan) {
  FakeSpanSink sink;
  TraceContext context = kSampled;
  {
    const ActiveSpan outer = ActiveSpan::Start(SpanKind::kServer, "outer", context);
    const TraceContext of_outer = context;
    ActiveSpan inner = ActiveSpan::Start(SpanKind::kClient, "inner", context);
    inner.Set("key", std::string("value"));
    EXPECT_NE(context, of_outer);
  }
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].name, "inner");
  EXPECT_EQ(spans[0].context, context);
  EXPECT_EQ(spans[0].parent, spans[1].context);
  EXPECT_EQ(spans[0].attributes[0].key, "key");
  EXPECT_EQ(spans[1].parent, kSampled);
  EXPECT_EQ(spans[1].context.trace_id(), kSampled.trace_id());
  EXPECT_LT(spans[1].start_nanos, spans[0].start_nanos);
  EXPECT_LT(spans[0].end_nanos, spans[1].end_nanos);
}

TEST(ActiveSpanTest, StartsTraceIfAllowed) {
  FakeSpanSink sink;
  TraceContext context;
  EXPECT_FALSE(ActiveSpan::Start(SpanKind::kServer, "a", context));
  EXPECT_TRUE(context.empty());
  EXPECT_TRUE(ActiveSpan::Start(SpanKind::kServer, "a", context, ActiveSpan::Roots::kBegin));
  EXPECT_TRUE(context.sampled());
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_TRUE(spans[0].parent.empty());
  EXPECT_EQ(spans[0].context, context);
}

TEST(ActiveSpanTest, UnsampledTraceIsForwardedAsUnsampled) {
  FakeSpanSink sink(*Sampler::Of("parentbased_always_off", ""));
  TraceContext context;
  EXPECT_FALSE(ActiveSpan::Start(SpanKind::kServer, "a", context, ActiveSpan::Roots::kBegin));
  EXPECT_FALSE(context.empty());
  EXPECT_FALSE(context.sampled());
  TraceContext given = kUnsampled;
  EXPECT_FALSE(ActiveSpan::Start(SpanKind::kServer, "a", given));
  EXPECT_EQ(given, kUnsampled);
  EXPECT_THAT(sink.Take(), IsEmpty());
}

TEST(ActiveSpanTest, SamplerThatIgnoresParentOverrulesIt) {
  FakeSpanSink sink(*Sampler::Of("always_off", ""));
  TraceContext context = kSampled;
  EXPECT_FALSE(ActiveSpan::Start(SpanKind::kServer, "a", context));
  EXPECT_EQ(context, kUnsampled);
}

TEST(ActiveSpanTest, LinksToOtherTracesButNotToParent) {
  FakeSpanSink sink;
  TraceContext context = kSampled;
  ActiveSpan span = ActiveSpan::Start(SpanKind::kServer, "a", context);
  const TraceContext other = TraceContext::New();
  span.Link(TraceContext());
  span.Link(kSampled);
  span.Link(other);
  span.Fail("queue_full");
  span.End();
  span.End();
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_THAT(spans[0].links, ElementsAre(other));
  EXPECT_TRUE(spans[0].failed);
  EXPECT_EQ(spans[0].attributes.back().key, "error.type");
}

}  // namespace
}  // namespace callslip
