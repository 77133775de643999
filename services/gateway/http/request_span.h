#pragma once

#include "gateway/http/http_message.h"
#include "gateway/http/http_metrics.h"
#include "gateway/http/responder.h"
#include "telemetry/span_sink.h"

namespace callslip::gateway {

// Records a span for `request`, from now to the beginning of the response, and puts the span's
// context in place of its `traceparent`, so that everything that follows is part of it. An agent's
// call begins a trace; what workers, pages and scrapers request repeatedly is recorded only if it
// belongs to a trace.
void RecordRequest(const HttpMetrics::Route& route, HttpRequest& request, Responder& responder);

// RecordRequest() if spans are recorded, else nothing.
inline void TraceRequest(const HttpMetrics::Route& route, HttpRequest& request,
                         Responder& responder) {
  if (Spans() != nullptr) RecordRequest(route, request, responder);
}

}  // namespace callslip::gateway
