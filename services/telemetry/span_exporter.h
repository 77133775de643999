#ifndef CALLSLIP_TELEMETRY_SPAN_EXPORTER_H_
#define CALLSLIP_TELEMETRY_SPAN_EXPORTER_H_

#include <memory>

#include "absl/time/time.h"
#include "common/clock.h"
#include "telemetry/otlp_transport.h"
#include "telemetry/span_file.h"
#include "telemetry/span_sink.h"
#include "telemetry/telemetry_settings.h"

namespace callslip {

// Sends spans to a collector in batches, from a thread of its own. Whoever records one waits for
// nothing but the lock of a queue: a collector that hangs, refuses or is gone costs the spans that
// don't fit into that queue meanwhile, and nobody's time. What it does not take after three
// attempts, or refuses for good, is dropped as well; both are counted, and said once in the log
// until it takes some again. With a file, what a process that is killed has under way or waiting is
// sent by the next one. Thread-safe.
class SpanExporter final : public SpanSink {
 public:
  // `clock` must outlive this. What is in `file`, which may be null, is sent first.
  SpanExporter(Clock* clock, const TelemetrySettings& settings,
               std::unique_ptr<OtlpTransport> transport, std::unique_ptr<SpanFile> file = nullptr);
  ~SpanExporter() override;

  bool Samples(const TraceContext& parent, const TraceContext& context) const override;
  int64_t NowNanos() const override;
  void Begin(Span& span) override;
  void Record(Span span) override;
  SpanCounts Counts() const override;

  // Sends what there is, for `within` at most and a moment more, and drops the rest. Once only.
  void Stop(absl::Duration within);

 private:
  class Worker;

  Clock* const clock_;
  const Sampler sampler_;
  const std::shared_ptr<Worker> worker_;
};

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_SPAN_EXPORTER_H_
