#ifndef CALLSLIP_GATEWAY_HTTP_REQUEST_SPAN_H_
#define CALLSLIP_GATEWAY_HTTP_REQUEST_SPAN_H_

#include "gateway/http/http_message.h"
#include "gateway/http/http_metrics.h"
#include "gateway/http/responder.h"
#include "telemetry/span_sink.h"

namespace callslip::gateway {

// Records what is answered to `request`, from now to the beginning of the answer, and puts the
// span's context in place of its `traceparent`, so that all that follows is a part of it. An
// agent's call begins a trace; what workers, pages and scrapers ask for again and again is recorded
// only where it belongs to one.
void RecordRequest(const HttpMetrics::Route& route, HttpRequest& request, Responder& responder);

// The same, for a branch where no spans are recorded.
inline void TraceRequest(const HttpMetrics::Route& route, HttpRequest& request,
                         Responder& responder) {
  if (Spans() != nullptr) RecordRequest(route, request, responder);
}

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_REQUEST_SPAN_H_
