#ifndef CALLSLIP_TELEMETRY_TESTING_FAKE_SPAN_SINK_H_
#define CALLSLIP_TELEMETRY_TESTING_FAKE_SPAN_SINK_H_

#include <utility>
#include <vector>

#include "common/mutex.h"
#include "telemetry/sampler.h"
#include "telemetry/span_sink.h"

namespace callslip {

// Is the sink of the process for as long as it lives, and keeps what it is given. Its clock goes on
// by a nanosecond with each look.
class FakeSpanSink final : public SpanSink {
 public:
  explicit FakeSpanSink(Sampler sampler = Sampler()) : sampler_(sampler) { SetSpans(this); }
  ~FakeSpanSink() override { SetSpans(nullptr); }

  bool Samples(const TraceContext& parent, const TraceContext& context) const override {
    return sampler_.Samples(parent, context);
  }
  int64_t NowNanos() const override { return ++nanos_; }
  void Record(Span span) override {
    MutexLock lock(&mutex_);
    spans_.push_back(std::move(span));
  }
  SpanCounts Counts() const override { return {}; }

  std::vector<Span> Take() {
    MutexLock lock(&mutex_);
    return std::exchange(spans_, {});
  }

 private:
  const Sampler sampler_;
  mutable std::atomic<int64_t> nanos_{0};
  Mutex mutex_;
  std::vector<Span> spans_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_TESTING_FAKE_SPAN_SINK_H_
