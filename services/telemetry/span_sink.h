#pragma once

#include <atomic>
#include <cstdint>

#include "common/trace_context.h"
#include "telemetry/span.h"

namespace callslip {

// The outcomes of a process's spans.
struct SpanCounts {
  int64_t exported = 0;
  int64_t dropped = 0;  // The queue was full.
  int64_t failed = 0;   // The collector did not accept them.
};

// A destination of spans. Thread-safe.
class SpanSink {
 public:
  virtual ~SpanSink() = default;

  // Whether work in the trace of `context` is recorded; `parent` is empty if the trace begins here.
  virtual bool Samples(const TraceContext& parent, const TraceContext& context) const = 0;
  // By the wall clock, since 1970.
  virtual int64_t NowNanos() const = 0;
  // Called for a span that is recorded later, so that it can be saved in case the process is
  // killed.
  virtual void Begin(Span&) {}
  // Does not block.
  virtual void Record(Span span) = 0;
  virtual SpanCounts Counts() const = 0;
};

namespace internal {
extern std::atomic<SpanSink*> span_sink;
}

// The sink of this process, global like the log. Null, as initially, if no spans are recorded.
// Costs one atomic load.
inline SpanSink* Spans() { return internal::span_sink.load(std::memory_order_acquire); }

// For main() and tests. A sink that is replaced may still be in use by other threads.
void SetSpans(SpanSink* sink);

}  // namespace callslip
