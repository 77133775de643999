#include "formats/describe.h"

#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace callslip::tracker {
namespace {

// Empty members are omitted.
class Line {
 public:
  explicit Line(absl::string_view kind) : text_(kind) {}

  Line& Add(absl::string_view name, absl::string_view value) {
    if (!value.empty()) absl::StrAppend(&text_, " ", name, "=", Shown(value));
    return *this;
  }
  Line& Add(absl::string_view name, int64_t value) {
    if (value != 0) absl::StrAppend(&text_, " ", name, "=", value);
    return *this;
  }
  Line& Add(absl::string_view name, const Payload& value) {
    if (value != nullptr) absl::StrAppend(&text_, " ", name, "=", Shown(*value));
    return *this;
  }
  std::string text() const { return text_; }

 private:
  // Shows a long value by its ends and its size.
  static std::string Shown(absl::string_view value) {
    if (value.size() <= 120) return absl::Utf8SafeCEscape(value);
    return absl::StrCat(value.substr(0, 12), "…", value.substr(value.size() - 3), "(", value.size(),
                        ")");
  }

  std::string text_;
};

std::string Clocks(const DeadlineOverrides& clocks) {
  std::string text;
  for (const auto& clock :
       {clocks.schedule_to_start, clocks.ack_wait, clocks.heartbeat_timeout, clocks.start_to_close,
        clocks.schedule_to_close, clocks.result_retention}) {
    absl::StrAppend(&text, text.empty() ? "" : ",",
                    clock.has_value() ? absl::FormatDuration(*clock) : "-");
  }
  return clocks == DeadlineOverrides() ? "" : text;
}

std::string Of(const CommandRecord& record) {
  const CommandSnapshot& command = *record.command;
  const CommandSpec& spec = *command.spec;
  Line line("command");
  line.Add("sequence", static_cast<int64_t>(spec.sequence))
      .Add("id", spec.id.ToString())
      .Add("client", spec.client_id())
      .Add("target", spec.target())
      .Add("type", spec.type())
      .Add("request_id", spec.request_id())
      .Add("label", spec.label())
      .Add("ordering_key", spec.ordering_key())
      .Add("replay_of", spec.replay_of())
      .Add("subject", spec.subject())
      .Add("human", spec.command_class == CommandClass::kHuman)
      .Add("idempotent", spec.idempotent)
      .Add("priority", spec.priority)
      .Add("registered", absl::ToUnixNanos(spec.register_time))
      .Add("clocks", Clocks(spec.deadlines->overrides))
      .Add("traceparent", spec.trace.empty() ? "" : spec.trace.ToString())
      .Add("params", spec.params)
      .Add("read", spec.is_read());
  if (spec.not_before != absl::InfinitePast()) {
    line.Add("not_before", absl::ToUnixNanos(spec.not_before));
  }
  line.Add("state", CommandStateName(command.state))
      .Add("attempt", command.attempt)
      .Add("revision", command.revision);
  for (const TraceEntry& step : command.trace) {
    line.Add("at", absl::StrCat(step.unix_nanos, "/", static_cast<int>(step.stage), "/",
                                static_cast<int>(step.source)));
  }
  if (command.error != nullptr) {
    line.Add("error", absl::StrCat(command.error->code, "/", command.error->message, "/",
                                   command.error->hint, "/", command.error->may_have_executed));
  }
  if (command.progress != nullptr) {
    line.Add("progress", absl::StrCat(command.progress->fraction, "/", command.progress->message));
  }
  line.Add("context", command.context)
      .Add("result", command.result)
      .Add("late_result", command.late_result);
  for (const LeaseToken& lease : record.leases) {
    line.Add("lease", absl::StrCat(lease.ToString(), lease.MayBeLeftOut() ? "/optional" : ""));
  }
  return line.Add("worker", record.worker)
      .Add("worker_before", record.worker_before)
      .Add("heartbeats", record.heartbeats)
      .Add("end_unreported", record.end_unreported)
      .Add("end_number", static_cast<int64_t>(record.end_number))
      .text();
}

std::string Of(const CommandRemoval& removal) {
  return Line("tombstone")
      .Add("id", removal.id.ToString())
      .Add("client", removal.client_id)
      .Add("ended_as", CommandStateName(removal.ended_as))
      .Add("request_hash", static_cast<int64_t>(removal.request_hash))
      .Add("until", removal.until_nanos)
      .Add("number", static_cast<int64_t>(removal.number))
      .text();
}

std::string Of(const DrawingRecord& record) {
  const Drawing& drawing = *record.drawing;
  Line line("drawing");
  line.Add("sequence", static_cast<int64_t>(drawing.sequence))
      .Add("target", drawing.target)
      .Add("tab", drawing.tab_id)
      .Add("url", drawing.url)
      .Add("title", drawing.title)
      .Add("session", drawing.session)
      .Add("content", drawing.content)
      .Add("appended", absl::ToUnixNanos(drawing.append_time))
      .Add("drawing_id", record.drawing_id);
  for (const DrawingReceipt& receipt : record.receipts) {
    line.Add("given", absl::StrCat(receipt.client_id, "/",
                                   receipt.command.has_value() ? receipt.command->ToString() : ""));
  }
  for (const std::string& id : record.to_complete) line.Add("to_complete", id);
  return line.text();
}

std::string Of(const DrawingAnswer& answer) {
  Line line("answer");
  line.Add("target", answer.target)
      .Add("drawing_id", answer.drawing_id)
      .Add("appended", absl::ToUnixNanos(answer.append_time))
      .Add("stored", answer.answer.stored);
  for (const std::string& id : answer.answer.completed) line.Add("completed", id);
  return line.text();
}

std::string Of(const CommandReceipt&) { return "receipt"; }
std::string Of(const DrawingRemoval&) { return "removal"; }
std::string Of(const Restart&) { return "restart"; }

}  // namespace

std::string Describe(const JournalEntry& entry) {
  return std::visit([](const auto& change) { return Of(change); }, entry.change);
}

}  // namespace callslip::tracker
