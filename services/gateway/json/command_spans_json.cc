#include "gateway/json/command_spans_json.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/trace_context.h"
#include "gateway/json/command_json.h"
#include "telemetry/command_trace.h"

namespace callslip::gateway {
namespace {

namespace v1 = tracker::v1;

constexpr char kWhole[] = "command";

class Spans {
 public:
  explicit Spans(const v1::Command& command) : command_(command) {
    const std::optional<TraceContext> trace = TraceContext::Parse(command.traceparent());
    if (trace.has_value() && IdOf(*trace) == IdOf(Of(*trace, kWhole))) trace_ = trace;
    attempt_ = command.attempt() - static_cast<int>(std::count_if(
                                       command.trace().begin(), command.trace().end(),
                                       [](const auto& entry) { return entry.stage() == "sent"; }));
  }

  Json Take() {
    if (command_.trace().empty()) return spans_;
    const auto& first = command_.trace(0);
    Begin(kWhole, command_.type(), kWhole, "", first);
    for (const v1::TraceEntry& entry : command_.trace()) Take(entry);
    if (command_.has_work_begin_time()) TakeWork();
    return spans_;
  }

 private:
  TraceContext Of(const TraceContext& trace, const std::string& part) const {
    return SpanOfCommand(trace, command_.command_id(), part);
  }
  static std::string IdOf(const TraceContext& context) {
    return absl::BytesToHexString(context.span_id());
  }
  std::string Destination() const { return std::string(DestinationOf(command_.target())); }
  std::string Numbered(const char* kind) const { return absl::StrCat(kind, " ", attempt_); }

  void Begin(const char* kind, const std::string& of, const std::string& part,
             const std::string& parent, const v1::TraceEntry& entry) {
    Json span = {{"name", absl::StrCat(kind, " ", of)}, {"start", WireTime(entry.time())}};
    if (trace_.has_value()) {
      span["span_id"] = IdOf(Of(*trace_, part));
      if (!parent.empty()) span["parent_span_id"] = IdOf(Of(*trace_, parent));
    }
    if (!entry.worker_id().empty()) span["worker"] = entry.worker_id();
    spans_.push_back(std::move(span));
  }
  // The worker's own time in its last delivery.
  void TakeWork() {
    v1::TraceEntry begin;
    *begin.mutable_time() = command_.work_begin_time();
    Begin("work", command_.type(), Numbered("work"), Numbered("process"), begin);
    spans_.back()["end"] = WireTime(command_.work_end_time());
  }
  // Ends all spans from `from` on; the first one is the command's own.
  void End(const v1::TraceEntry& entry, size_t from) {
    for (size_t i = from; i < spans_.size(); ++i) {
      if (!spans_[i].contains("end")) spans_[i]["end"] = WireTime(entry.time());
    }
  }

  void Wait(const v1::TraceEntry& entry) {
    Begin("queue", Destination(), absl::StrCat("queue ", attempt_ + 1), kWhole, entry);
  }

  void Take(const v1::TraceEntry& entry) {
    const std::string& stage = entry.stage();
    if (stage == "queued" || stage == "returned") {
      End(entry, 1);
      Wait(entry);
    } else if (stage == "sent") {
      End(entry, 1);
      ++attempt_;
      Begin("process", Destination(), Numbered("process"), kWhole, entry);
    } else if (stage == "started") {
      Begin("execute", command_.type(), Numbered("execute"), Numbered("process"), entry);
    } else if (stage == "resolved") {
      End(entry, 0);
    }
  }

  const v1::Command& command_;
  std::optional<TraceContext> trace_;  // Set if spans are recorded.
  int attempt_ = 0;
  Json spans_ = Json::array();
};

}  // namespace

Json CommandSpans(const v1::Command& command) { return Spans(command).Take(); }

}  // namespace callslip::gateway
