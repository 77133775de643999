#include "common/trace_context.h"

#include "gtest/gtest.h"

namespace callslip {
namespace {

constexpr char kGiven[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContextTest, FormatsAsParsed) {
  const auto context = TraceContext::Parse(kGiven);
  ASSERT_TRUE(context.has_value());
  EXPECT_FALSE(context->empty());
  EXPECT_EQ(context->ToString(), kGiven);
}

TEST(TraceContextTest, LaterVersionsAreReadAsCurrentVersion) {
  const auto context =
      TraceContext::Parse("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes");
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(context->ToString(), kGiven);
}

TEST(TraceContextTest, MalformedTextIsRefused) {
  for (const char* text : {
           "",
           "00",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
           "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
       }) {
    EXPECT_FALSE(TraceContext::Parse(text).has_value()) << text;
  }
}

TEST(TraceContextTest, NewContextsDifferAndAreWellFormed) {
  const TraceContext one = TraceContext::New();
  EXPECT_NE(one, TraceContext::New());
  EXPECT_EQ(TraceContext::Parse(one.ToString()), one);
  EXPECT_EQ(one.ToString().size(), 55u);
}

TEST(TraceContextTest, ProvidesIdsAsBytesAndFlags) {
  const TraceContext context =
      *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03");
  EXPECT_EQ(context.trace_id(), "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36");
  EXPECT_EQ(context.span_id(), absl::string_view("\x00\xf0\x67\xaa\x0b\xa9\x02\xb7", 8));
  EXPECT_TRUE(context.sampled());
  EXPECT_FALSE(context.WithSampled(false).sampled());
  EXPECT_EQ(context.WithSampled(false).flags(), 2);
  EXPECT_EQ(context.WithSampled(false).WithSampled(true), context);
}

TEST(TraceContextTest, WithSpanKeepsTrace) {
  const TraceContext context =
      *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  const TraceContext other = context.WithSpan(1);
  EXPECT_EQ(other.trace_id(), context.trace_id());
  EXPECT_NE(other.span_id(), context.span_id());
  EXPECT_EQ(TraceContext::Parse(other.ToString()), other);
}

TEST(TraceContextTest, EmptyContextHasEmptyText) {
  EXPECT_TRUE(TraceContext().empty());
  EXPECT_EQ(TraceContext().ToString(), "");
}

}  // namespace
}  // namespace callslip
