#pragma once

#include "common/metrics.h"
#include "telemetry/span_sink.h"

namespace callslip {

// Adds the counts of this process's spans; nothing if none are recorded.
inline void AddSpans(MetricsPage& page) {
  const SpanSink* sink = Spans();
  if (sink == nullptr) return;
  const SpanCounts counts = sink->Counts();
  for (const auto& [result, count] : {std::pair("exported", counts.exported),
                                      {"dropped", counts.dropped},
                                      {"failed", counts.failed}}) {
    page.Counter("callslip_spans_total",
                 "Spans by what has become of them: the collector took them, there was no room, or "
                 "it did not take them.",
                 static_cast<double>(count), {{"result", result}});
  }
}

}  // namespace callslip
