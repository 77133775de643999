#pragma once

#include <utility>
#include <vector>

#include "common/mutex.h"
#include "telemetry/sampler.h"
#include "telemetry/span_sink.h"

namespace callslip {

// The sink of the process for its lifetime; keeps the recorded spans. Its clock advances by a
// nanosecond with each reading.
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
