#include "bridge/relay/call_span.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bridge/relay/relay_test_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/testing/fake_span_sink.h"

namespace callslip::bridge {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kGiven[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

std::string WithTrace(const char* traceparent) {
  return absl::StrCat(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"observe","_meta":{"a":1,)",
      R"("traceparent":")", traceparent, R"("},"arguments":{"what":"tabs"}}})");
}

std::optional<std::string> AttributeOf(const Span& span, absl::string_view key) {
  for (const SpanAttribute& each : span.attributes) {
    if (each.key == key) return std::get<std::string>(each.value);
  }
  return std::nullopt;
}

class CallSpanTest : public RelayTest {
 protected:
  // The relay records spans until it is destroyed, so the sink must outlive it.
  ~CallSpanTest() override { relay_.reset(); }

  Span TheSpan() {
    const std::vector<Span> spans = sink_.Take();
    EXPECT_THAT(spans, SizeIs(1));
    return spans.empty() ? Span() : spans.front();
  }

  FakeSpanSink sink_;
};

TEST_F(CallSpanTest, SpanJoinsAgentTraceAndIsParentOfGatewaySpan) {
  StartGateway();
  Send(WithTrace(kGiven));
  Read();
  const Span span = TheSpan();
  EXPECT_EQ(span.name, "tools/call observe");
  EXPECT_EQ(span.kind, SpanKind::kClient);
  EXPECT_EQ(span.parent.ToString(), kGiven);
  EXPECT_FALSE(span.failed);
  EXPECT_EQ(AttributeOf(span, "gen_ai.tool.name"), "observe");
  const httplib::Request sent = gateway_->requests().back();
  EXPECT_EQ(sent.get_header_value("traceparent"), span.context.ToString());
  EXPECT_EQ(sent.body, WithTrace(span.context.ToString().c_str()));
}

TEST_F(CallSpanTest, CallWithoutTraceStartsOneAndIsSentUnchanged) {
  StartGateway();
  CallTool("1", "observe", "{}");
  Read();
  const Span span = TheSpan();
  EXPECT_TRUE(span.parent.empty());
  const httplib::Request sent = gateway_->requests().back();
  EXPECT_EQ(sent.get_header_value("traceparent"), span.context.ToString());
  EXPECT_THAT(sent.body, Not(HasSubstr("traceparent")));
}

TEST_F(CallSpanTest, TracestateIsSentOnlyWithItsOwnTrace) {
  StartGateway();
  const auto line = [](absl::string_view traceparent, absl::string_view tracestate) {
    return absl::StrCat(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"observe","_meta":{)",
        R"("tracestate":")", tracestate, R"(","baggage":"b=1","traceparent":")", traceparent,
        R"("},"arguments":{"what":"tabs"}}})");
  };
  Send(line(kGiven, "a=1"));
  Read();
  httplib::Request sent = gateway_->requests().back();
  EXPECT_EQ(sent.get_header_value("tracestate"), "a=1");
  EXPECT_EQ(sent.body, line(TheSpan().context.ToString(), "a=1"));
  Send(line(kGiven, R"(a=1\r\nx: y)"));
  Read();
  sent = gateway_->requests().back();
  EXPECT_FALSE(sent.has_header("tracestate"));
  EXPECT_FALSE(sent.has_header("x"));
  (void)TheSpan();
  Send(line("00-none", "a=1"));
  Read();
  sent = gateway_->requests().back();
  EXPECT_FALSE(sent.has_header("tracestate"));
  EXPECT_EQ(sent.body, line(TheSpan().context.ToString(), ""));
}

TEST_F(CallSpanTest, UnknownToolsAndMethodsAreNotSpanNames) {
  StartGateway();
  CallTool("1", "secret", "{}");
  Read();
  EXPECT_EQ(TheSpan().name, "tools/call");
  Call("2", "secret/method");
  Read();
  EXPECT_EQ(TheSpan().name, "_OTHER");
}

TEST_F(CallSpanTest, FailuresHaveErrorTypes) {
  StartGateway([](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
    const bool refuses = absl::StrContains(request.body, "\"id\":1");
    response.set_content(
        refuses ? R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"secret"}})"
                : R"({"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}})",
        "application/json");
  });
  CallTool("1", "observe", "{}");
  Read();
  const Span refused = TheSpan();
  EXPECT_TRUE(refused.failed);
  EXPECT_EQ(AttributeOf(refused, "error.type"), "-32602");
  CallTool("2", "observe", "{}");
  Read();
  EXPECT_EQ(AttributeOf(TheSpan(), "error.type"), "tool_error");
}

TEST_F(CallSpanTest, SpanOfUnansweredCallHasErrorType) {
  StartGateway(
      [](FakeGateway& gateway, const httplib::Request&, httplib::Response&) { gateway.Freeze(); });
  CallTool("1", "observe", "{}");
  gateway_->AwaitRequests(1);
  CancelCall("1");
  EXPECT_EQ(AttributeOf(TheSpan(), "error.type"), "cancelled");
  CallTool("2", "observe", "{}");
  gateway_->AwaitRequests(2);
  fake_clock_.Advance(absl::Minutes(10));
  Read();
  EXPECT_EQ(AttributeOf(TheSpan(), "error.type"), "deadline_exceeded");
}

// The gateway learns from the header that the trace is not recorded.
TEST_F(CallSpanTest, UnsampledTraceIsPassedOnAsUnsampled) {
  constexpr char kUnsampled[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  StartGateway();
  Send(WithTrace(kUnsampled));
  Read();
  EXPECT_THAT(sink_.Take(), IsEmpty());
  EXPECT_EQ(gateway_->requests().back().get_header_value("traceparent"), kUnsampled);
  EXPECT_EQ(gateway_->requests().back().body, WithTrace(kUnsampled));
}

TEST(CallSpan, HasNoEffectWhenNoSpansAreRecorded) {
  Message message = ParseMessage(WithTrace(kGiven));
  const CallSpan call = BeginCallSpan(message);
  EXPECT_FALSE(call.span);
  EXPECT_EQ(call.header, "");
  EXPECT_EQ(message.line, WithTrace(kGiven));
}

}  // namespace
}  // namespace callslip::bridge
