#include "gateway/http/request_trace.h"

#include <string>

namespace callslip::gateway {

TraceContext TraceOf(const HttpRequest& request) {
  return TraceContext::Parse(request.Header("traceparent")).value_or(TraceContext());
}

TraceCompanions CompanionsOf(const HttpRequest& request) {
  const std::string& tracestate = request.Header("tracestate");
  const bool has_trace = !tracestate.empty() && !TraceOf(request).empty();
  return {.tracestate = has_trace ? TracestateOf(tracestate) : "",
          .baggage = BaggageOf(request.Header("baggage"))};
}

}  // namespace callslip::gateway
