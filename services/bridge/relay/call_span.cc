#include "bridge/relay/call_span.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "bridge/http/mcp_headers.h"
#include "bridge/relay/gateway_answer.h"
#include "common/json_scan.h"
#include "common/text_scan.h"
#include "common/trace_companions.h"
#include "common/trace_context.h"

namespace callslip::bridge {
namespace {

// Names invented by an agent must not become span names.
constexpr absl::string_view kTools[] = {"analyze", "interact", "observe", "session"};
constexpr absl::string_view kMethods[] = {"completion/complete",
                                          "initialize",
                                          "logging/setLevel",
                                          "ping",
                                          "prompts/get",
                                          "prompts/list",
                                          "resources/list",
                                          "resources/read",
                                          "resources/templates/list",
                                          "resources/subscribe",
                                          "tasks/cancel",
                                          "tasks/get",
                                          "resources/unsubscribe",
                                          "tasks/list",
                                          "tasks/result",
                                          "server/discover",
                                          "tasks/update",
                                          "tools/call",
                                          "subscriptions/listen",
                                          "tools/list"};

// The most of an id that a span has.
constexpr size_t kIdBytes = 64;

std::string ToolOf(const Message& message) {
  const bool is_known = message.tool_call && absl::c_linear_search(kTools, message.tool_call->tool);
  return is_known ? message.tool_call->tool : "";
}

CallSpan Begin(Message& message) {
  const std::optional<TraceContext> given = TraceContext::Parse(MetaText(message, "traceparent"));
  TraceContext trace = given.value_or(TraceContext());
  const std::string method =
      absl::c_linear_search(kMethods, message.method) ? message.method : "_OTHER";
  const std::string tool = ToolOf(message);
  CallSpan call;
  call.span =
      ActiveSpan::Start(SpanKind::kClient, tool.empty() ? method : absl::StrCat(method, " ", tool),
                        trace, ActiveSpan::Roots::kBegin);
  AddHeader(call.header, "traceparent", trace.ToString());
  if (given.has_value()) {
    const std::string tracestate = TracestateOf(MetaText(message, "tracestate"));
    if (!tracestate.empty()) AddHeader(call.header, "tracestate", tracestate);
  } else {
    // A tracestate without a valid traceparent does not belong to the trace that begins here.
    ReplaceMetaText(message, "tracestate", "");
  }
  if (!call.span) return call;
  ReplaceMetaText(message, "traceparent", trace.ToString());
  call.span.Set("mcp.method.name", method);
  // A string without its quotes.
  absl::string_view id = CutText(message.id, kIdBytes);
  if (absl::ConsumePrefix(&id, "\"")) absl::ConsumeSuffix(&id, "\"");
  call.span.Set("jsonrpc.request.id", std::string(id));
  if (!tool.empty()) {
    call.span.Set("gen_ai.operation.name", std::string("execute_tool"));
    call.span.Set("gen_ai.tool.name", tool);
  }
  return call;
}

}  // namespace

CallSpan BeginCallSpan(Message& message) {
  return Spans() == nullptr || !message.is_request() ? CallSpan() : Begin(message);
}

std::string TraceparentOf(const CallSpan& call, const Message& message) {
  if (call.span) return call.span.context().ToString();
  return TraceContext::Parse(MetaText(message, "traceparent")).value_or(TraceContext()).ToString();
}

void EndCallSpan(const Message& answer, ActiveSpan& span) {
  if (!span) return;
  if (const int code = ErrorCodeOf(answer); code != 0) {
    span.Set("rpc.response.status_code", absl::StrCat(code));
    span.Fail(absl::StrCat(code));
  } else if (const JsonScan scan = ScanJson(answer.line, /*into=*/"result");
             FindMember(InnerMembers(scan.members, "result"), "isError") == "true") {
    span.Fail("tool_error");
  }
  span.End();
}

}  // namespace callslip::bridge
