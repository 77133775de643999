#include "tracker/rpc/command_spans.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/text_scan.h"
#include "telemetry/command_trace.h"
#include "telemetry/span_sink.h"

namespace callslip::tracker {
namespace {

bool IsRecorded(const CommandSpec& spec) { return Spans() != nullptr && spec.trace.sampled(); }

int64_t WallNanos(int64_t nanos) {
  return absl::ToUnixNanos(ToWallTime(absl::FromUnixNanos(nanos)));
}

// Follows a command's trace and makes its spans.
class Recorder {
 public:
  // Unfinished spans end at `now`.
  Recorder(const CommandSnapshot& command, int64_t now)
      : command_(command), spec_(*command.spec), now_(now), waits_since_(Begun()) {
    const auto deliveries = static_cast<int>(absl::c_count_if(
        command.trace, [](const auto& entry) { return entry.stage == TraceEntry::Stage::kSent; }));
    // The last delivery is the current attempt.
    attempt_ = command.attempt - deliveries;
    worker_ = static_cast<int>(command.workers.size()) - deliveries;
  }

  std::vector<Span> Record() && {
    for (const TraceEntry& entry : command_.trace) Take(entry);
    const bool is_over = IsTerminal(command_.state);
    if (!is_over) {
      RecordWait(now_);
      RecordDelivery(now_, /*is_last=*/true);
    }
    if (const auto work = command_.WorkNanos(); work.has_value()) {
      spans_.push_back(Part(absl::StrCat("work ", spec_.type()), Context("work", attempt_),
                            Context("process", attempt_), work->begin, work->end));
      if (worker_ > 0) spans_.back().attributes.push_back({"messaging.client.id", Worker()});
      MarkEnd(spans_.back());
    }
    Span span = Part(absl::StrCat("command ", spec_.type()), Context("command"), spec_.trace,
                     Begun(), is_over ? command_.LastNanos(TraceEntry::Stage::kResolved) : now_);
    span.attributes.push_back({"callslip.command.state", std::string(StateName())});
    span.attributes.push_back({"callslip.command.attempts", int64_t{command_.attempt}});
    MarkEnd(span);
    spans_.push_back(std::move(span));
    return std::move(spans_);
  }

 private:
  // The span of a part of the command: `process 2` is its second delivery.
  TraceContext Context(absl::string_view name) const {
    return SpanOfCommand(spec_.trace, id_, name);
  }
  TraceContext Context(absl::string_view kind, int number) const {
    return Context(absl::StrCat(kind, " ", number));
  }
  int64_t Begun() const { return command_.trace.front().unix_nanos; }
  // The worker of the last delivery so far, if known.
  const std::string& Worker() const { return *command_.workers[static_cast<size_t>(worker_) - 1]; }
  absl::string_view StateName() const { return CommandStateName(command_.state); }

  void Take(const TraceEntry& entry) {
    switch (entry.stage) {
      case TraceEntry::Stage::kSent:
        RecordWait(entry.unix_nanos);
        ++attempt_;
        ++worker_;
        delivered_ = entry.unix_nanos;
        return;
      case TraceEntry::Stage::kStarted: started_ = entry.unix_nanos; return;
      case TraceEntry::Stage::kReturned:
        RecordDelivery(entry.unix_nanos, /*is_last=*/false);
        waits_since_ = entry.unix_nanos;
        return;
      case TraceEntry::Stage::kResolved:
        if (delivered_ != 0) {
          RecordDelivery(entry.unix_nanos, /*is_last=*/true);
        } else {
          RecordWait(entry.unix_nanos);
        }
        return;
      case TraceEntry::Stage::kQueued:
      case TraceEntry::Stage::kLateResult: return;
    }
  }

  void RecordWait(int64_t until) {
    if (waits_since_ == 0) return;
    spans_.push_back(Part(absl::StrCat("queue ", DestinationOf(spec_.target())),
                          Context("queue", attempt_ + 1), Context("command"),
                          std::exchange(waits_since_, 0), until));
  }

  void RecordDelivery(int64_t until, bool is_last) {
    if (delivered_ == 0) return;
    const TraceContext context = Context("process", attempt_);
    if (started_ != 0) {
      spans_.push_back(Part(absl::StrCat("execute ", spec_.type()), Context("execute", attempt_),
                            context, std::exchange(started_, 0), until));
    }
    Span span = Part(absl::StrCat("process ", DestinationOf(spec_.target())), context,
                     Context("command"), std::exchange(delivered_, 0), until);
    span.kind = SpanKind::kConsumer;
    span.links.push_back(spec_.trace);
    span.attributes.push_back({"messaging.operation.name", std::string("process")});
    span.attributes.push_back({"messaging.operation.type", std::string("process")});
    span.attributes.push_back({"callslip.command.attempt", int64_t{attempt_}});
    if (worker_ > 0) span.attributes.push_back({"messaging.client.id", Worker()});
    if (is_last) {
      MarkEnd(span);
    } else {
      span.failed = true;
      span.attributes.push_back({"error.type", std::string("returned_to_queue")});
    }
    spans_.push_back(std::move(span));
  }

  Span Part(std::string name, const TraceContext& context, const TraceContext& parent,
            int64_t start, int64_t end) const {
    return {.name = std::move(name),
            .context = context,
            .parent = parent,
            .start_nanos = WallNanos(start),
            .end_nanos = WallNanos(end),
            .attributes = {{"messaging.system", std::string("callslip")},
                           {"messaging.destination.name", std::string(spec_.target())},
                           {"messaging.message.id", id_}}};
  }

  // Marks how the command ended. A cancellation is not a failure.
  void MarkEnd(Span& span) const {
    if (command_.error == nullptr || command_.state == CommandState::kCompleted) return;
    span.failed = command_.state != CommandState::kCancelled;
    // Workers choose the codes of their errors.
    const std::string& code = command_.error->code;
    span.attributes.push_back({"error.type", IsErrorCode(code) ? code : "_OTHER"});
    span.attributes.push_back(
        {"callslip.command.may_have_executed", command_.error->may_have_executed});
  }

  const CommandSnapshot& command_;
  const CommandSpec& spec_;
  const std::string id_ = spec_.id.ToString();
  const int64_t now_;
  std::vector<Span> spans_;
  int attempt_ = 0;  // The attempt of the last delivery so far.
  int worker_ = 0;   // The number of the command's workers so far.
  // The start times of the current phases; 0 if not in progress.
  int64_t waits_since_;
  int64_t delivered_ = 0;
  int64_t started_ = 0;
};

}  // namespace

TraceContext TraceForClients(const CommandSpec& spec) {
  return IsRecorded(spec) ? SpanOfCommand(spec.trace, spec.id.ToString(), "command") : spec.trace;
}

TraceContext TraceForWorker(const CommandSnapshot& command) {
  const CommandSpec& spec = *command.spec;
  if (!IsRecorded(spec)) return spec.trace;
  return SpanOfCommand(spec.trace, spec.id.ToString(), absl::StrCat("process ", command.attempt));
}

void RecordCommand(const CommandSnapshot& command) {
  SpanSink* sink = Spans();
  if (sink == nullptr || !IsRecorded(*command.spec)) return;
  for (Span& span : SpansOf(command, /*now=*/0)) sink->Record(std::move(span));
}

std::vector<Span> SpansOf(const CommandSnapshot& command, int64_t now) {
  return Recorder(command, now).Record();
}

}  // namespace callslip::tracker
