#include "telemetry/otlp_encoding.h"

#include <limits>
#include <utility>

#include "common/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/otlp_trace.pb.h"

namespace callslip {
namespace {

namespace otlp = callslip::testing::otlp;

const TraceContext kParent =
    *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

otlp::ExportTraceServiceRequest Decoded(const ResourceAttributes& resource,
                                        const std::vector<Span>& spans) {
  otlp::ExportTraceServiceRequest request;
  EXPECT_TRUE(request.ParseFromString(EncodeSpans(EncodeResource(resource), spans)));
  return request;
}

TEST(OtlpEncodingTest, SpanHasAllFields) {
  const TraceContext own = kParent.WithSpan(0x0102030405060708);
  const auto request =
      Decoded({}, {{.name = "tools/call interact",
                    .kind = SpanKind::kServer,
                    .context = own,
                    .parent = kParent,
                    .start_nanos = 1'795'509'797'511'256'484,
                    .end_nanos = 1'795'509'797'512'244'378,
                    .attributes = {{"gen_ai.tool.name", std::string("interact")},
                                   {"http.response.status_code", int64_t{200}},
                                   {"callslip.least", std::numeric_limits<int64_t>::min()},
                                   {"callslip.yes", true},
                                   {"callslip.no", false},
                                   {"callslip.empty", std::string()}},
                    .links = {kParent},
                    .failed = true}});
  ASSERT_EQ(request.resource_spans_size(), 1);
  ASSERT_EQ(request.resource_spans(0).scope_spans_size(), 1);
  ASSERT_EQ(request.resource_spans(0).scope_spans(0).spans_size(), 1);
  const otlp::Span& span = request.resource_spans(0).scope_spans(0).spans(0);
  EXPECT_EQ(span.trace_id(), "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36");
  EXPECT_EQ(span.span_id(), std::string(own.span_id()));
  EXPECT_EQ(span.parent_span_id(), std::string("\x00\xf0\x67\xaa\x0b\xa9\x02\xb7", 8));
  EXPECT_EQ(span.name(), "tools/call interact");
  EXPECT_EQ(span.kind(), otlp::Span::SPAN_KIND_SERVER);
  EXPECT_EQ(span.start_time_unix_nano(), 1'795'509'797'511'256'484u);
  EXPECT_EQ(span.end_time_unix_nano(), 1'795'509'797'512'244'378u);
  EXPECT_EQ(span.flags(), 1u);
  EXPECT_EQ(span.status().code(), otlp::Status::STATUS_CODE_ERROR);
  ASSERT_EQ(span.attributes_size(), 6);
  EXPECT_EQ(span.attributes(0).key(), "gen_ai.tool.name");
  EXPECT_EQ(span.attributes(0).value().string_value(), "interact");
  EXPECT_EQ(span.attributes(1).value().int_value(), 200);
  EXPECT_EQ(span.attributes(2).value().int_value(), std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(span.attributes(3).value().bool_value());
  EXPECT_EQ(span.attributes(4).value().value_case(), otlp::AnyValue::kBoolValue);
  EXPECT_EQ(span.attributes(5).value().value_case(), otlp::AnyValue::kStringValue);
  ASSERT_EQ(span.links_size(), 1);
  EXPECT_EQ(span.links(0).trace_id(), span.trace_id());
  EXPECT_EQ(span.links(0).span_id(), span.parent_span_id());
  EXPECT_EQ(span.links(0).flags(), 1u);
  // Nothing is in a field that the protos do not have.
  EXPECT_TRUE(span.GetReflection()->GetUnknownFields(span).empty());
}

TEST(OtlpEncodingTest, SuccessfulRootSpanHasNoStatusOrParent) {
  const auto request = Decoded({}, {{.name = "a", .context = kParent}});
  const otlp::Span& span = request.resource_spans(0).scope_spans(0).spans(0);
  EXPECT_FALSE(span.has_status());
  EXPECT_EQ(span.parent_span_id(), "");
  EXPECT_EQ(span.kind(), otlp::Span::SPAN_KIND_INTERNAL);
}

TEST(OtlpEncodingTest, SpansShareOneResourceAndScope) {
  const std::string long_name(300, 'n');
  const auto request =
      Decoded({{"service.name", "callslip-gateway"}, {"service.version", kVersion}},
              {{.name = "a", .context = kParent}, {.name = long_name, .context = kParent}});
  ASSERT_EQ(request.resource_spans_size(), 1);
  const otlp::ResourceSpans& spans = request.resource_spans(0);
  ASSERT_EQ(spans.resource().attributes_size(), 2);
  EXPECT_EQ(spans.resource().attributes(0).key(), "service.name");
  EXPECT_EQ(spans.resource().attributes(0).value().string_value(), "callslip-gateway");
  EXPECT_EQ(spans.scope_spans(0).scope().name(), "callslip");
  EXPECT_EQ(spans.scope_spans(0).scope().version(), kVersion);
  ASSERT_EQ(spans.scope_spans(0).spans_size(), 2);
  EXPECT_EQ(spans.scope_spans(0).spans(1).name(), long_name);
}

TEST(OtlpEncodingTest, CollectorRejectionsAreRead) {
  const std::pair<absl::string_view, int64_t> kTable[] = {
      {"", 0},
      {absl::string_view("\x0a\x00", 2), 0},
      {"\x0a\x02\x08\x07", 7},
      {"\x0a\x08\x08\xac\x02\x12\x03why", 300},
      // A warning without rejections.
      {"\x0a\x05\x12\x03why", 0},
      // Malformed ones.
      {"\x0a", 0},
      {"\x0a\x02\x08", 0},
      {"\x0a\x02\x08\xff", 0},
      {"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0},
      {"<html>", 0},
  };
  for (const auto& [response, rejected] : kTable) EXPECT_EQ(RejectedIn(response), rejected);
}

}  // namespace
}  // namespace callslip
