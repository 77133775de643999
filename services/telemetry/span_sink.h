#ifndef CALLSLIP_TELEMETRY_SPAN_SINK_H_
#define CALLSLIP_TELEMETRY_SPAN_SINK_H_

#include <atomic>
#include <cstdint>

#include "common/trace_context.h"
#include "telemetry/span.h"

namespace callslip {

// What has become of the spans of a process.
struct SpanCounts {
  int64_t exported = 0;
  int64_t dropped = 0;  // There was no room for them.
  int64_t failed = 0;   // The collector did not take them.
};

// Where spans go. Thread-safe.
class SpanSink {
 public:
  virtual ~SpanSink() = default;

  // Whether what is done in the trace of `context` is recorded; `parent` is empty where the trace
  // begins here.
  virtual bool Samples(const TraceContext& parent, const TraceContext& context) const = 0;
  // By the wall clock, since 1970.
  virtual int64_t NowNanos() const = 0;
  // Told of one that is recorded later, so that it may be kept should the process be killed.
  virtual void Begin(Span&) {}
  // Never waits.
  virtual void Record(Span span) = 0;
  virtual SpanCounts Counts() const = 0;
};

namespace internal {
extern std::atomic<SpanSink*> span_sink;
}

// The sink of this process, as the log is one: null, as it is at first, where no spans are
// recorded. To ask costs a load.
inline SpanSink* Spans() { return internal::span_sink.load(std::memory_order_acquire); }

// For main() and for tests. A sink that is taken away may still be in use by other threads.
void SetSpans(SpanSink* sink);

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_SPAN_SINK_H_
