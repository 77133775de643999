#pragma once

#include <memory>

#include "absl/time/time.h"
#include "common/clock.h"
#include "telemetry/otlp_transport.h"
#include "telemetry/span_file.h"
#include "telemetry/span_sink.h"
#include "telemetry/telemetry_settings.h"

namespace callslip {

// Sends spans to a collector in batches from its own thread. Recording a span waits only for a
// queue's lock: a collector that hangs, refuses or is gone costs the spans that meanwhile do not
// fit into the queue, and no other thread's time. Spans that it does not accept in three attempts,
// or refuses permanently, are also dropped. Both are counted, and logged once until the collector
// accepts some again. With a file, the spans that a killed process had in progress or queued are
// sent by the next process. Thread-safe.
class SpanExporter final : public SpanSink {
 public:
  // `clock` must outlive this. The content of `file`, which may be null, is sent first.
  SpanExporter(Clock* clock, const TelemetrySettings& settings,
               std::unique_ptr<OtlpTransport> transport, std::unique_ptr<SpanFile> file = nullptr);
  ~SpanExporter() override;

  bool Samples(const TraceContext& parent, const TraceContext& context) const override;
  int64_t NowNanos() const override;
  void Begin(Span& span) override;
  void Record(Span span) override;
  SpanCounts Counts() const override;

  // Sends the remaining spans, for at most `within` plus a moment, and drops the rest. Call it
  // once.
  void Stop(absl::Duration within);

 private:
  class Worker;

  Clock* const clock_;
  const Sampler sampler_;
  const std::shared_ptr<Worker> worker_;
};

}  // namespace callslip
