#ifndef CALLSLIP_TELEMETRY_ACTIVE_SPAN_H_
#define CALLSLIP_TELEMETRY_ACTIVE_SPAN_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/trace_context.h"
#include "telemetry/span.h"
#include "telemetry/span_sink.h"

namespace callslip {

// A span under way, which ends with this. Empty, a null pointer, where nothing is recorded: then
// all of it does nothing. Used by one thread at a time.
class ActiveSpan {
 public:
  // Whether what belongs to no trace yet begins one, or is not recorded.
  enum class Roots { kBegin, kIgnore };

  ActiveSpan() = default;
  ~ActiveSpan() { End(); }
  ActiveSpan(ActiveSpan&&) = default;
  ActiveSpan& operator=(ActiveSpan&& other) noexcept {
    End();
    span_ = std::move(other.span_);
    return *this;
  }

  // Begins as a part of what `context` says, which becomes what is to be handed on. Costs a branch
  // where no spans are recorded.
  static ActiveSpan Start(SpanKind kind, absl::string_view name, TraceContext& context,
                          Roots roots = Roots::kIgnore) {
    return Spans() == nullptr ? ActiveSpan() : Begin(kind, name, context, roots);
  }

  explicit operator bool() const { return span_ != nullptr; }

  // Its own; empty where nothing is recorded.
  const TraceContext& context() const { return span_ != nullptr ? span_->context : kNone; }

  // `key` is a literal.
  void Set(absl::string_view key, std::string value);
  void Set(absl::string_view key, int64_t value);
  void Set(absl::string_view key, bool value);
  // What else it has to do with. Nothing for an empty one, and for its own trace and parent.
  void Link(const TraceContext& context);
  // `type` is a code, such as `queue_full`.
  void Fail(absl::string_view type);
  void End();

 private:
  static ActiveSpan Begin(SpanKind kind, absl::string_view name, TraceContext& context,
                          Roots roots);

  static const TraceContext kNone;

  std::unique_ptr<Span> span_;
};

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_ACTIVE_SPAN_H_
