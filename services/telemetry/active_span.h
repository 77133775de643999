#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/trace_context.h"
#include "telemetry/span.h"
#include "telemetry/span_sink.h"

namespace callslip {

// A span in progress, which ends when this is destroyed. Empty, a null pointer, if nothing is
// recorded: then all its functions do nothing. Not thread-safe: use on one thread at a time.
class ActiveSpan {
 public:
  // Whether work that belongs to no trace begins one, or is not recorded.
  enum class Roots { kBegin, kIgnore };

  ActiveSpan() = default;
  ~ActiveSpan() { End(); }
  ActiveSpan(ActiveSpan&&) = default;
  ActiveSpan& operator=(ActiveSpan&& other) noexcept {
    End();
    span_ = std::move(other.span_);
    return *this;
  }

  // Begins a span under `context`, and changes `context` to the context to forward. Costs one
  // branch if no spans are recorded.
  static ActiveSpan Start(SpanKind kind, absl::string_view name, TraceContext& context,
                          Roots roots = Roots::kIgnore) {
    return Spans() == nullptr ? ActiveSpan() : Begin(kind, name, context, roots);
  }

  explicit operator bool() const { return span_ != nullptr; }

  // The span's own context; empty if nothing is recorded.
  const TraceContext& context() const { return span_ != nullptr ? span_->context : kNone; }

  // `key` is a literal.
  void Set(absl::string_view key, std::string value);
  void Set(absl::string_view key, int64_t value);
  void Set(absl::string_view key, bool value);
  // Links the span to `context`. Does nothing if that is empty or the span's parent.
  void Link(const TraceContext& context);
  // `type` is a code, such as `queue_full`. The first one counts.
  void Fail(absl::string_view type);
  void End();

 private:
  static ActiveSpan Begin(SpanKind kind, absl::string_view name, TraceContext& context,
                          Roots roots);

  static const TraceContext kNone;

  std::unique_ptr<Span> span_;
};

}  // namespace callslip
