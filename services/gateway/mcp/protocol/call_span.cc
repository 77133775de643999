#include "gateway/mcp/protocol/call_span.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace callslip::gateway {

ActiveSpan BeginCallSpan(absl::string_view method, absl::string_view tool,
                         absl::string_view version, const TraceContext& http, TraceContext& trace) {
  if (Spans() == nullptr) return {};
  if (trace.empty()) trace = http;
  const std::string name = tool.empty() ? std::string(method) : absl::StrCat(method, " ", tool);
  ActiveSpan span = ActiveSpan::Start(SpanKind::kServer, name, trace, ActiveSpan::Roots::kBegin);
  if (!span) return span;
  span.Link(http);
  span.Set("mcp.method.name", std::string(method));
  if (!version.empty()) span.Set("mcp.protocol.version", std::string(version));
  if (!tool.empty()) {
    span.Set("gen_ai.operation.name", "execute_tool");
    span.Set("gen_ai.tool.name", std::string(tool));
  }
  return span;
}

void EndCallSpan(const RpcOutcome& outcome, ActiveSpan& span) {
  if (!span) return;
  if (const auto* error = std::get_if<RpcError>(&outcome)) {
    const std::string code = absl::StrCat(static_cast<int>(error->code));
    span.Set("rpc.response.status_code", code);
    span.Fail(code);
  } else if (const auto& result = std::get<Json>(outcome);
             result.is_object() && result.value("isError", false)) {
    span.Fail("tool_error");
  }
  span.End();
}

}  // namespace callslip::gateway
