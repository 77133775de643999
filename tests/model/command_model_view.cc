#include "model/command_model_view.h"

#include "absl/strings/str_cat.h"
#include "common/error_details.h"

namespace callslip::tracker {
namespace {

std::string StageName(TraceEntry::Stage stage) {
  switch (stage) {
    case TraceEntry::Stage::kQueued: return "queued";
    case TraceEntry::Stage::kSent: return "sent";
    case TraceEntry::Stage::kStarted: return "started";
    case TraceEntry::Stage::kReturned: return "returned";
    case TraceEntry::Stage::kResolved: return "resolved";
    case TraceEntry::Stage::kLateResult: return "late_result";
  }
  return "?";
}

std::string SourceName(TraceEntry::Source source) {
  switch (source) {
    case TraceEntry::Source::kClient: return "client";
    case TraceEntry::Source::kWorker: return "worker";
    case TraceEntry::Source::kTracker: return "tracker";
  }
  return "?";
}

}  // namespace

std::string BytesOf(const Payload& payload) { return payload == nullptr ? "" : *payload; }

void AddTrace(CommandView& view, const char* entry) {
  if (!view.trace.empty()) view.trace += ' ';
  view.trace += entry;
}

std::string OutcomeOf(const absl::Status& status) {
  if (status.ok()) return "ok";
  return absl::StrCat(absl::StatusCodeToString(status.code()), " ", DetailsOf(status).reason);
}

CommandView ViewOf(const CommandSnapshot& snapshot) {
  CommandView view;
  view.state = snapshot.state;
  view.attempt = snapshot.attempt;
  for (const TraceEntry& entry : snapshot.trace) {
    AddTrace(view, absl::StrCat(StageName(entry.stage), "/", SourceName(entry.source)).c_str());
  }
  view.result = BytesOf(snapshot.result);
  if (snapshot.error != nullptr) {
    view.error_code = snapshot.error->code;
    view.may_have_executed = snapshot.error->may_have_executed;
    view.error_message = snapshot.error->message;
    view.error_hint = snapshot.error->hint;
  }
  if (snapshot.progress != nullptr) {
    view.progress = absl::StrCat(snapshot.progress->fraction, " ", snapshot.progress->message);
  }
  view.context = BytesOf(snapshot.context);
  view.late_result = BytesOf(snapshot.late_result);
  view.deliver_time = snapshot.deliver_time();
  view.start_time = snapshot.start_time();
  view.end_time = snapshot.end_time();
  return view;
}

std::string DifferenceOf(const CommandView& expected, const CommandView& actual) {
  const auto differ = [](const char* what, auto&& want, auto&& is) {
    return absl::StrCat(what, " is \"", is, "\" instead of \"", want, "\"");
  };
  const auto times = [&](const char* what, absl::Time want, absl::Time is) {
    return differ(what, absl::FormatTime(want, absl::UTCTimeZone()),
                  absl::FormatTime(is, absl::UTCTimeZone()));
  };
  if (expected.state != actual.state) {
    return differ("state", CommandStateName(expected.state), CommandStateName(actual.state));
  }
  if (expected.attempt != actual.attempt) {
    return differ("attempt", expected.attempt, actual.attempt);
  }
  if (expected.error_code != actual.error_code) {
    return differ("error code", expected.error_code, actual.error_code);
  }
  if (expected.may_have_executed.has_value() &&
      expected.may_have_executed != actual.may_have_executed.value_or(false)) {
    return differ("may_have_executed", *expected.may_have_executed,
                  actual.may_have_executed.value_or(false));
  }
  if (expected.error_message.has_value() && expected.error_message != actual.error_message) {
    return differ("error message", *expected.error_message, actual.error_message.value_or(""));
  }
  if (expected.error_hint.has_value() && expected.error_hint != actual.error_hint) {
    return differ("error hint", *expected.error_hint, actual.error_hint.value_or(""));
  }
  if (expected.trace != actual.trace) return differ("trace", expected.trace, actual.trace);
  if (expected.result != actual.result) return differ("result", expected.result, actual.result);
  if (expected.progress != actual.progress) {
    return differ("progress", expected.progress, actual.progress);
  }
  if (expected.context != actual.context) {
    return differ("context", expected.context, actual.context);
  }
  if (expected.late_result != actual.late_result) {
    return differ("late_result", expected.late_result, actual.late_result);
  }
  if (expected.deliver_time != actual.deliver_time) {
    return times("deliver_time", expected.deliver_time, actual.deliver_time);
  }
  if (expected.start_time != actual.start_time) {
    return times("start_time", expected.start_time, actual.start_time);
  }
  if (expected.end_time != actual.end_time) {
    return times("end_time", expected.end_time, actual.end_time);
  }
  return "";
}

}  // namespace callslip::tracker
