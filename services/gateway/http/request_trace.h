#pragma once

#include "common/trace_companions.h"
#include "common/trace_context.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// The trace that a request is part of, from its headers `traceparent`, `tracestate` and `baggage`;
// empty if they are absent or malformed.
TraceContext TraceOf(const HttpRequest& request);
TraceCompanions CompanionsOf(const HttpRequest& request);

}  // namespace callslip::gateway
