#include "telemetry/active_span.h"

#include "common/random.h"

namespace callslip {

std::atomic<SpanSink*> internal::span_sink{nullptr};

const TraceContext ActiveSpan::kNone;

void SetSpans(SpanSink* sink) { internal::span_sink.store(sink, std::memory_order_release); }

ActiveSpan ActiveSpan::Begin(SpanKind kind, absl::string_view name, TraceContext& context,
                             Roots roots) {
  ActiveSpan active;
  SpanSink* sink = Spans();
  if (sink == nullptr || (context.empty() && roots == Roots::kIgnore)) return active;
  const TraceContext parent = context;
  if (parent.empty()) context = TraceContext::New();
  // The flag tells later participants of the trace.
  const bool sampled = sink->Samples(parent, context);
  context = context.WithSampled(sampled);
  if (!sampled) return active;
  if (!parent.empty()) context = context.WithSpan(Random64() | 1);
  active.span_ = std::make_unique<Span>(Span{.name = std::string(name),
                                             .kind = kind,
                                             .context = context,
                                             .parent = parent,
                                             .start_nanos = sink->NowNanos()});
  sink->Begin(*active.span_);
  return active;
}

void ActiveSpan::Set(absl::string_view key, std::string value) {
  if (span_ != nullptr) span_->attributes.push_back({key, std::move(value)});
}

void ActiveSpan::Set(absl::string_view key, int64_t value) {
  if (span_ != nullptr) span_->attributes.push_back({key, value});
}

void ActiveSpan::Set(absl::string_view key, bool value) {
  if (span_ != nullptr) span_->attributes.push_back({key, value});
}

void ActiveSpan::Link(const TraceContext& context) {
  if (span_ == nullptr || context.empty() || context == span_->parent) return;
  span_->links.push_back(context);
}

void ActiveSpan::Fail(absl::string_view type) {
  if (span_ == nullptr || span_->failed) return;
  span_->failed = true;
  Set("error.type", std::string(type));
}

void ActiveSpan::End() {
  if (span_ == nullptr) return;
  const std::unique_ptr<Span> span = std::move(span_);
  SpanSink* sink = Spans();
  if (sink == nullptr) return;
  span->end_nanos = sink->NowNanos();
  sink->Record(std::move(*span));
}

}  // namespace callslip
