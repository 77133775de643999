#include "gateway/http/request_span.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/trace_context.h"
#include "rpc_client/traced_executor.h"
#include "telemetry/active_span.h"

namespace callslip::gateway {
namespace {

constexpr char kHeader[] = "traceparent";

// Sets attributes of the HTTP conventions, but not the path or the query, which may hold IDs and
// other data.
void NoteAnswer(int status, ActiveSpan& span) {
  span.Set("http.response.status_code", int64_t{status});
  // Only server errors: a caller's mistake is not a failure of the server.
  if (status >= 500) span.Fail(absl::StrCat(status));
}

}  // namespace

void RecordRequest(const HttpMetrics::Route& route, HttpRequest& request, Responder& responder) {
  const bool is_agents = route.method == "POST" && route.path == "/mcp";
  const std::optional<TraceContext> given = TraceContext::Parse(request.Header(kHeader));
  TraceContext context = given.value_or(TraceContext());
  ActiveSpan span =
      ActiveSpan::Start(SpanKind::kServer, absl::StrCat(route.method, " ", route.path), context,
                        is_agents ? ActiveSpan::Roots::kBegin : ActiveSpan::Roots::kIgnore);
  // Without a valid traceparent, tracestate belongs to no trace, and not to the new one either.
  if (!given.has_value()) request.headers.erase("tracestate");
  if (!context.empty()) request.headers[kHeader] = context.ToString();
  if (!span) return;
  span.Set("http.request.method", route.method);
  span.Set("http.route", route.path);
  responder.executor =
      TracedExecutor(responder.executor, std::make_shared<const TraceContext>(span.context()));
  responder.respond = [span = std::move(span), has_left = responder.has_left,
                       respond = std::move(responder.respond)](HttpResponse response) mutable {
    const bool left = has_left != nullptr && *has_left;
    const int status = left ? HttpMetrics::kPeerHasLeft : response.status;
    NoteAnswer(response.upgrade != nullptr ? 101 : status, span);
    response.span = span.context();
    span.End();
    std::move(respond)(std::move(response));
  };
}

}  // namespace callslip::gateway
