#include "tracker/domain/command/command_model.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error_details.h"

namespace callslip::tracker {
namespace {

constexpr absl::Time kNever = absl::InfiniteFuture();

// The first whole millisecond that is not before `time`, which is when deadlines fire.
absl::Time WholeMillisecond(absl::Time time) {
  if (time == kNever) return kNever;
  const absl::Time down = absl::FromUnixMillis(absl::ToUnixMillis(time));
  return down < time ? down + absl::Milliseconds(1) : down;
}

// Where the contract is silent or can be read in two ways, and what the table does then.
//
// CommandTable::late_results() counts errors and time-outs, too.
constexpr bool kEveryLateReportCounts = true;
// A command that a person finishes can't have a not_before that is still to come.
constexpr bool kHumansStartAtOnce = true;
// Watches by filter have a limit of their own, and count in no other.
constexpr bool kFiltersAreNoWaits = true;

std::string Bytes(const Payload& payload) { return payload == nullptr ? "" : *payload; }

std::string StageName(TraceEntry::Stage stage) {
  switch (stage) {
    case TraceEntry::Stage::kQueued:
      return "queued";
    case TraceEntry::Stage::kSent:
      return "sent";
    case TraceEntry::Stage::kStarted:
      return "started";
    case TraceEntry::Stage::kReturned:
      return "returned";
    case TraceEntry::Stage::kResolved:
      return "resolved";
    case TraceEntry::Stage::kLateResult:
      return "late_result";
  }
  return "?";
}

std::string SourceName(TraceEntry::Source source) {
  switch (source) {
    case TraceEntry::Source::kClient:
      return "client";
    case TraceEntry::Source::kWorker:
      return "worker";
    case TraceEntry::Source::kTracker:
      return "tracker";
  }
  return "?";
}

void AddTrace(CommandView& view, const char* entry) {
  if (!view.trace.empty()) view.trace += ' ';
  view.trace += entry;
}

bool Fits(const std::string& name) { return name.size() <= kMaxNameBytes; }

bool Within(const std::optional<absl::Duration>& clock, absl::Duration min, absl::Duration max) {
  return !clock.has_value() || (*clock >= min && *clock <= max);
}

// Those of the tracker with the overrides of one command.
CommandDeadlines Overridden(CommandDeadlines clocks, const DeadlineOverrides& overrides,
                            bool human) {
  clocks.schedule_to_start = overrides.schedule_to_start.value_or(clocks.schedule_to_start);
  clocks.ack_wait = overrides.ack_wait.value_or(clocks.ack_wait);
  clocks.heartbeat_timeout = overrides.heartbeat_timeout.value_or(clocks.heartbeat_timeout);
  clocks.start_to_close = overrides.start_to_close.value_or(clocks.start_to_close);
  clocks.result_retention = overrides.result_retention.value_or(clocks.result_retention);
  if (overrides.schedule_to_close.has_value()) {
    (human ? clocks.human_schedule_to_close : clocks.schedule_to_close.emplace()) =
        *overrides.schedule_to_close;
  }
  return clocks;
}

// Empty params mean an empty object.
std::string ParamsOf(const CommandRequest& request) {
  return Bytes(request.params).empty() ? "{}" : Bytes(request.params);
}

// A worker has it, or has had it.
bool MayHaveExecuted(const ModelCommand& command) {
  return command.view.attempt > 0 || command.view.state == CommandState::kRunning;
}

bool SameContent(const CommandRequest& a, const CommandRequest& b) {
  return a.target == b.target && a.type == b.type && ParamsOf(a) == ParamsOf(b) &&
         a.ordering_key == b.ordering_key && a.command_class == b.command_class &&
         a.idempotent == b.idempotent && a.priority == b.priority && a.not_before == b.not_before &&
         a.deadlines == b.deadlines;
}

}  // namespace

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
  view.result = Bytes(snapshot.result);
  if (snapshot.error != nullptr) {
    view.error_code = snapshot.error->code;
    view.may_have_executed = snapshot.error->may_have_executed;
    view.error_message = snapshot.error->message;
    view.error_hint = snapshot.error->hint;
  }
  if (snapshot.progress != nullptr) {
    view.progress = absl::StrCat(snapshot.progress->fraction, " ", snapshot.progress->message);
  }
  view.context = Bytes(snapshot.context);
  view.late_result = Bytes(snapshot.late_result);
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

bool ModelCommand::held() const {
  return !removed && !worker.empty() &&
         (view.state == CommandState::kDelivered || view.state == CommandState::kRunning);
}

int64_t ModelCommand::payload_bytes() const {
  return params_bytes +
         static_cast<int64_t>(view.result.size() + view.context.size() + view.late_result.size());
}

CommandModel::CommandModel(const CommandDeadlines& clocks, const CommandLimits& limits, int feeds,
                           ModelMistake mistake, Reader reader)
    : clocks_(clocks),
      limits_(limits),
      mistake_(mistake),
      reader_(std::move(reader)),
      feeds_(static_cast<size_t>(feeds)) {}

void CommandModel::Disagree(const std::string& what) {
  if (disagreement_.empty()) disagreement_ = what;
}

bool CommandModel::Expect(const absl::Status& status, const std::vector<std::string>& allowed) {
  const std::string outcome = OutcomeOf(status);
  Reach(absl::StrCat("answer ", outcome));
  if (absl::c_linear_search(allowed, outcome)) return true;
  Disagree(absl::StrCat("the call answered ", outcome, " (", status.message(), ") instead of ",
                        absl::StrJoin(allowed, " or ")));
  return false;
}

// Registration.

bool CommandModel::IsValid(const CommandRequest& request, absl::Time now) const {
  const DeadlineOverrides& own = request.deadlines;
  const bool human = request.command_class == CommandClass::kHuman;
  if (!Fits(request.client_id) || !Fits(request.target) || !Fits(request.request_id) ||
      !Fits(request.label) || !Fits(request.ordering_key)) {
    return false;
  }
  if (request.type.empty() || request.type.size() > kMaxTypeBytes) return false;
  if (Bytes(request.params).size() > kMaxParamsBytes) return false;
  if (std::abs(request.priority) > kMaxPriority) return false;
  if (request.not_before > now + kMaxDelay) return false;
  if (!Within(own.schedule_to_start, kMinDeadline, kMaxScheduleToStart) ||
      !Within(own.ack_wait, kMinDeadline, kMaxAckWait) ||
      !Within(own.heartbeat_timeout, kMinDeadline, kMaxHeartbeatTimeout) ||
      !Within(own.start_to_close, kMinDeadline, kMaxStartToClose) ||
      !Within(own.schedule_to_close, kMinDeadline, kMaxScheduleToClose) ||
      !Within(own.result_retention, kMinResultRetention, kMaxResultRetention)) {
    return false;
  }
  if (human) {
    return !own.schedule_to_start && !own.ack_wait && !own.heartbeat_timeout &&
           !own.start_to_close && (!kHumansStartAtOnce || request.not_before <= now);
  }
  const CommandDeadlines clocks = Overridden(clocks_, own, human);
  if (clocks.ack_wait >= clocks.schedule_to_start || clocks.ack_wait >= clocks.heartbeat_timeout) {
    return false;
  }
  return !clocks.schedule_to_close.has_value() ||
         (*clocks.schedule_to_close > clocks.schedule_to_start &&
          *clocks.schedule_to_close > clocks.start_to_close);
}

const ModelCommand* CommandModel::FindRequest(const std::string& client,
                                              const std::string& request_id) const {
  if (request_id.empty() || mistake_ == ModelMistake::kForgetsRequestIds) return nullptr;
  for (const ModelCommand& command : commands_) {
    if (!command.removed && command.client() == client &&
        command.request.request_id == request_id) {
      return &command;
    }
  }
  return nullptr;
}

std::vector<std::string> CommandModel::Refusals(const CommandRequest& request) {
  std::vector<std::string> refusals;
  const auto refuse = [&](const char* limit, const char* reason) {
    if (!draining_) Reach(absl::StrCat("limit ", limit));
    refusals.push_back(absl::StrCat("RESOURCE_EXHAUSTED ", reason));
  };
  if (request.command_class != CommandClass::kHuman) {
    const int64_t queued = Queued(request.target, nullptr);
    const int64_t queued_of_client = Queued(request.target, &request.client_id);
    if (queued >= limits_.queued) refuse("queued", "queue_full");
    if (queued_of_client >= limits_.queued_of_client) refuse("queued_of_client", "queue_full");
  }
  const std::string* client = &request.client_id;
  if (CountCommands(nullptr) >= limits_.commands) refuse("commands", "too_many_commands");
  if (CountCommands(client) >= limits_.commands_of_client) {
    refuse("commands_of_client", "too_many_commands");
  }
  const auto bytes = static_cast<int64_t>(ParamsOf(request).size());
  if (CountBytes(nullptr) + bytes > limits_.payload_bytes) {
    refuse("payload_bytes", "too_many_bytes");
  }
  if (CountBytes(client) + bytes > limits_.payload_bytes_of_client) {
    refuse("payload_bytes_of_client", "too_many_bytes");
  }
  return refusals;
}

void CommandModel::Register(CommandRequest request, absl::Time now, const absl::Status& status,
                            const std::optional<ObservedRegistration>& answer) {
  BeginStep();
  if (!IsValid(request, now)) {
    Expect(status, {"INVALID_ARGUMENT invalid_argument"});
    return;
  }
  RegisterChecked(std::move(request), -1, now, status, answer);
}

void CommandModel::Replay(const std::string& client, int command, const std::string& request_id,
                          absl::Time now, const absl::Status& status,
                          const std::optional<ObservedRegistration>& answer) {
  BeginStep();
  const ModelCommand* known = FindRequest(client, request_id);
  if (known != nullptr && command >= 0 && known->replay_of == command) {
    // Safe to retry, also when the old command is gone.
    RegisterChecked(known->request, command, now, status, answer);
    return;
  }
  const std::string readable = Readable(client, command);
  if (readable != "ok") {
    Expect(status, {readable});
    return;
  }
  const ModelCommand& old = At(command);
  if (old.view.state != CommandState::kFailed && old.view.state != CommandState::kTimedOut &&
      old.view.state != CommandState::kExpired) {
    Expect(status, {"FAILED_PRECONDITION not_a_dead_letter"});
    return;
  }
  CommandRequest request = old.request;
  request.request_id = request_id;
  request.not_before = absl::InfinitePast();
  RegisterChecked(std::move(request), command, now, status, answer);
}

void CommandModel::RegisterChecked(CommandRequest request, int replay_of, absl::Time now,
                                   const absl::Status& status,
                                   const std::optional<ObservedRegistration>& answer) {
  if (const ModelCommand* known = FindRequest(request.client_id, request.request_id)) {
    if (known->replay_of != replay_of || !SameContent(known->request, request)) {
      Expect(status, {"ALREADY_EXISTS request_id_reused"});
    } else if (Expect(status, {"ok"}) && (!answer->existed || answer->command != known->number)) {
      Disagree(absl::StrCat("a known request_id made a new command instead of answering with #",
                            known->number));
    }
    return;
  }
  std::vector<std::string> outcomes = Refusals(request);
  if (draining_) outcomes = {"UNAVAILABLE draining"};
  if (outcomes.empty()) outcomes = {"ok"};
  if (!Expect(status, outcomes)) return;
  if (OutcomeOf(status) == "RESOURCE_EXHAUSTED queue_full") {
    const int depth = DetailsOf(status).depth.value_or(0);
    if (depth != Queued(request.target, nullptr) &&
        depth != Queued(request.target, &request.client_id)) {
      Disagree(absl::StrCat("a full queue says that it is ", depth, " deep"));
    }
  }
  if (!status.ok()) return;
  if (answer->existed || answer->command != static_cast<int>(commands_.size())) {
    Disagree("a new request was answered with a known command");
    return;
  }
  Add(std::move(request), replay_of, now, *answer);
}

void CommandModel::Add(CommandRequest request, int replay_of, absl::Time now,
                       const ObservedRegistration& answer) {
  ModelCommand command;
  command.number = static_cast<int>(commands_.size());
  command.partition = answer.partition;
  command.params_bytes = answer.params_bytes;
  command.replay_of = replay_of;
  command.clocks =
      Overridden(clocks_, request.deadlines, request.command_class == CommandClass::kHuman);
  command.request = std::move(request);
  if (command.human()) {
    command.schedule_to_close = command.clocks.human_schedule_to_close;
  } else {
    // Its default is in the contract only as "as long as the clocks can run one after the other".
    command.schedule_to_close =
        command.clocks.schedule_to_close.value_or(answer.clocks.ScheduleToClose());
    if (command.schedule_to_close !=
            command.clocks.schedule_to_close.value_or(command.schedule_to_close) ||
        (!command.clocks.schedule_to_close.has_value() &&
         command.schedule_to_close < command.clocks.schedule_to_start + command.clocks.ack_wait +
                                         command.clocks.start_to_close + command.clocks.backstop)) {
      Disagree("schedule_to_close ends before the other clocks can");
    }
  }
  const CommandDeadlines& clocks = answer.clocks;
  if (clocks.schedule_to_start != command.clocks.schedule_to_start ||
      clocks.ack_wait != command.clocks.ack_wait ||
      clocks.heartbeat_timeout != command.clocks.heartbeat_timeout ||
      clocks.start_to_close != command.clocks.start_to_close ||
      clocks.result_retention != command.clocks.result_retention) {
    Disagree("the clocks are not those that were asked for");
  }
  command.register_time = now;
  command.ready_time = std::max(now, command.request.not_before);
  command.released = command.ready_time <= now;
  command.start_by = command.ready_time + command.clocks.schedule_to_start;
  AddTrace(command.view, "queued/client");
  commands_.push_back(std::move(command));
  UpdateTurn(commands_.back());
  Change(commands_.back());
}

// Reading.

std::string CommandModel::OutcomeOfReading(int command) const {
  const ModelCommand& known = commands_[static_cast<size_t>(command)];
  if (!known.removed) return "ok";
  return known.tombstone ? "NOT_FOUND command_removed" : "NOT_FOUND unknown_command";
}

std::string CommandModel::Readable(const std::string& client, int command) const {
  if (command < 0 || commands_[static_cast<size_t>(command)].client() != client) {
    return "NOT_FOUND unknown_command";
  }
  return OutcomeOfReading(command);
}

void CommandModel::Get(const std::string& client, int command, bool peek,
                       const absl::Status& status) {
  BeginStep();
  Expect(status, {Readable(client, command)});
  if (!status.ok() || !disagreement_.empty()) return;
  if (!peek || mistake_ == ModelMistake::kPeeksCollect) {
    At(command).collected = At(command).collected || At(command).ended();
  }
}

void CommandModel::List(const std::string& client, const CommandFilter& filter, int page_size,
                        int after, const std::vector<int>& commands, bool more) {
  BeginStep();
  std::vector<int> expected;
  for (auto command = commands_.rbegin(); command != commands_.rend(); ++command) {
    if (command->removed || command->client() != client) continue;
    if (after >= 0 && command->number >= after) continue;
    if (!filter.states.empty() && !absl::c_linear_search(filter.states, command->view.state)) {
      continue;
    }
    if (!filter.target.empty() && filter.target != command->target()) continue;
    if (!filter.label.empty() && filter.label != command->request.label) continue;
    expected.push_back(command->number);
  }
  const int size = page_size == 0 ? kDefaultPageSize : std::min(page_size, kMaxPageSize);
  const bool expect_more = static_cast<int>(expected.size()) > size;
  if (expect_more) expected.resize(static_cast<size_t>(size));
  if (commands != expected) {
    Disagree(absl::StrCat("the page lists ", absl::StrJoin(commands, " "), " instead of ",
                          absl::StrJoin(expected, " ")));
  }
  if (more != expect_more) Disagree(more ? "a page follows the last one" : "the next page is lost");
}

void CommandModel::CheckView(int command, const CommandView& view, int64_t revision) {
  ModelCommand& known = At(command);
  const std::string difference = DifferenceOf(known.view, view);
  if (!difference.empty()) Disagree(absl::StrCat("command #", command, ": ", difference));
  known.revision = revision;
}

// Ends by the client.

void CommandModel::Cancel(const std::string& client, int command, absl::Time now,
                          const absl::Status& status) {
  EndByClient(client, command, CommandState::kCancelled, {.code = "cancelled"}, now, status);
}

void CommandModel::Expire(const std::string& client, int command, const CommandError& error,
                          absl::Time now, const absl::Status& status) {
  CommandError cut = error;
  if (cut.code.empty()) cut.code = "expired_on_request";
  EndByClient(client, command, CommandState::kExpired, std::move(cut), now, status);
}

void CommandModel::EndByClient(const std::string& client, int command, CommandState state,
                               CommandError error, absl::Time now, const absl::Status& status) {
  BeginStep();
  const std::string readable = Readable(client, command);
  if (readable != "ok") {
    Expect(status, {readable});
    return;
  }
  ModelCommand& known = At(command);
  if (known.ended()) {
    if (known.view.state != state || !known.ended_by_client) {
      Expect(status, {"FAILED_PRECONDITION already_ended"});
    } else if (known.view.error_code == error.code.substr(0, kMaxErrorCodeBytes)) {
      Expect(status, {"ok"});
    } else {
      // Whether ending it for another reason is another way to end is not said.
      Expect(status, {"ok", "FAILED_PRECONDITION already_ended"});
    }
    return;
  }
  if (!Expect(status, {"ok"})) return;
  error.may_have_executed = MayHaveExecuted(known);
  known.ended_by_client = true;
  End(known, state, error, "client", now, -1);
}

// Watches.

void CommandModel::Watch(const ModelWatch& watch, int64_t after_revision,
                         const absl::Status& status, bool goes_on) {
  BeginStep();
  const bool of_filter = watch.command < 0;
  int64_t of_client = 0;
  int64_t filters = 0;
  for (const ModelWatch& other : watches_) {
    if (other.client != watch.client) continue;
    if (other.command < 0) ++filters;
    if (other.command >= 0 || !kFiltersAreNoWaits) ++of_client;
  }
  bool full = false;
  const auto limit = [&](const char* name, bool reached) {
    if (reached && !draining_) Reach(absl::StrCat("limit ", name));
    full = full || reached;
  };
  if (!of_filter || !kFiltersAreNoWaits) {
    limit("waits", waits() >= limits_.waits);
    limit("waits_of_client", of_client >= limits_.waits_of_client);
  }
  limit("filters_of_client", of_filter && filters >= limits_.filters_of_client);
  const std::string readable = of_filter ? "ok" : Readable(watch.client, watch.command);
  const bool over = !of_filter && readable == "ok" && At(watch.command).ended();

  std::vector<std::string> outcomes;
  if (readable != "ok") outcomes.push_back(readable);
  if (draining_) outcomes.push_back("UNAVAILABLE draining");
  if (full) outcomes.push_back("RESOURCE_EXHAUSTED too_many_waits");
  // A watch that is over at once needs no place.
  if (outcomes.empty() || (over && full && !draining_)) outcomes.push_back("ok");
  if (!Expect(status, outcomes) || !status.ok()) return;
  if (goes_on == over)
    Disagree(over ? "the watch of an ended command goes on" : "no watch is left");
  watches_.push_back(watch);
  for (const ModelCommand& command : commands_) {
    if (command.removed || command.client() != watch.client) continue;
    if (of_filter) {
      Tell(watches_.back(), command);
    } else if (command.number == watch.command &&
               (command.ended() || command.revision > after_revision)) {
      Tell(watches_.back(), command);
      break;
    }
  }
}

void CommandModel::Unwatch(int64_t watch_id) {
  BeginStep();
  EndWatch(watch_id);
}

void CommandModel::EndWatch(int64_t watch_id) {
  std::erase_if(watches_, [&](const ModelWatch& watch) { return watch.watch_id == watch_id; });
}

void CommandModel::Tell(ModelWatch& watch, const ModelCommand& command) {
  if (watch.client != command.client()) return;
  if (watch.only_end && !command.ended()) return;
  ModelUpdate update{.watch_id = watch.watch_id, .command = command.number, .view = command.view};
  if (watch.command >= 0) {
    if (watch.command != command.number) return;
    update.last = command.ended();
  } else {
    const CommandFilter& filter = watch.filter;
    const bool any_state = mistake_ == ModelMistake::kTellsWatchesOfOtherStates;
    if (!any_state && !filter.states.empty() &&
        !absl::c_linear_search(filter.states, command.view.state)) {
      return;
    }
    if (!filter.target.empty() && filter.target != command.target()) return;
    if (!filter.label.empty() && filter.label != command.request.label) return;
    // As in lists.
    update.view.result.clear();
    update.view.late_result.clear();
  }
  const bool last = update.last;
  const int64_t watch_id = watch.watch_id;
  Push(watch.feed, std::move(update));
  if (last) EndWatch(watch_id);
}

void CommandModel::Push(int feed, ModelUpdate update) {
  ModelFeed& to = feeds_[static_cast<size_t>(feed)];
  if (update.command >= 0) {
    for (ModelUpdate& waiting : to.updates) {
      if (waiting.watch_id != update.watch_id || waiting.command != update.command) continue;
      update.step = waiting.step;
      waiting = std::move(update);
      return;
    }
  }
  update.step = step_;
  if (to.updates.empty()) ++to.ready_calls;
  to.updates.push_back(std::move(update));
}

void CommandModel::Take(int feed, size_t max, const std::vector<ModelUpdate>& taken) {
  BeginStep();
  std::vector<ModelUpdate>& waiting = feeds_[static_cast<size_t>(feed)].updates;
  if (taken.size() != std::min(max, waiting.size())) {
    Disagree(absl::StrCat("the feed gave ", taken.size(), " updates of ", waiting.size()));
    return;
  }
  uint64_t newest = 0;
  for (const ModelUpdate& update : taken) {
    const std::string name = absl::StrCat("the update of watch ", update.watch_id, ", command #",
                                          update.command, update.last ? ", last" : "");
    const auto known = absl::c_find_if(waiting, [&](const ModelUpdate& candidate) {
      return candidate.watch_id == update.watch_id && candidate.command == update.command &&
             candidate.last == update.last && candidate.error == update.error;
    });
    if (known == waiting.end()) {
      Disagree(absl::StrCat(name, " ", update.error, " was not expected"));
      return;
    }
    if (update.command >= 0) {
      const std::string difference = DifferenceOf(known->view, update.view);
      if (!difference.empty()) Disagree(absl::StrCat(name, ": ", difference));
    }
    if (known->step < newest) Disagree(absl::StrCat(name, " comes after a newer one"));
    newest = known->step;
    if (update.command >= 0 && update.last) At(update.command).collected = true;
    waiting.erase(known);
  }
  for (const ModelUpdate& update : waiting) {
    if (update.step < newest) Disagree("a newer update was given out before an older one");
  }
}

void CommandModel::FailWatch(int feed, int64_t watch_id, const std::string& error) {
  BeginStep();
  Push(feed, {.watch_id = watch_id, .error = error, .last = true});
}

void CommandModel::Change(ModelCommand& command) {
  changed_.insert(command.number);
  // A watch that is told of the end is dropped on the way.
  for (size_t i = watches_.size(); i-- > 0;) Tell(watches_[i], command);
}

// Workers.

void CommandModel::Lease(const ModelCall& call, absl::Time now, const absl::Status& status,
                         bool goes_on, const std::vector<ObservedAnswer>& answers) {
  BeginStep();
  std::vector<std::string> outcomes;
  if (call.max_commands < 0 || call.max_commands > kWorkerWindow || call.window < 0 ||
      call.window > kWorkerWindow || !Fits(call.worker) || !Fits(call.target) ||
      call.back_within < absl::ZeroDuration() || call.back_within > kMaxBackWithin) {
    outcomes = {"INVALID_ARGUMENT invalid_argument"};
  } else if (draining_) {
    outcomes = {"UNAVAILABLE draining"};
  } else {
    outcomes = {"ok"};
  }
  ModelCall held = call;
  if (held.max_commands == 0) held.max_commands = kWorkerWindow;
  if (held.window == 0) held.window = kWorkerWindow;
  const bool would_wait = call.hold_until > now;
  if (outcomes.front() == "ok" && would_wait && waits() >= limits_.waits) {
    // Whether a call that need not be held is refused, too, is not said.
    const bool may_be_told = absl::c_any_of(untold_, [&](const UntoldEnd& end) {
      return end.target == held.target && end.worker == held.worker;
    });
    if (may_be_told || HasNews(held)) {
      outcomes.push_back("RESOURCE_EXHAUSTED too_many_waits");
    } else {
      outcomes = {"RESOURCE_EXHAUSTED too_many_waits"};
    }
  }
  if (!Expect(status, outcomes)) return;
  if (!status.ok()) {
    Settle(now, answers);
    return;
  }
  AbsenceOf(held).back_by = absl::InfinitePast();
  calls_.push_back(held);
  Settle(now, answers);
  const bool still_held =
      absl::c_any_of(calls_, [&](const ModelCall& other) { return other.slot == call.slot; });
  if (still_held != goes_on) Disagree("the call's handle does not say whether it is held");
}

void CommandModel::Abandon(int slot, absl::Time now, bool abandoned) {
  BeginStep();
  const auto held = absl::c_find_if(calls_, [&](const auto& call) { return call.slot == slot; });
  const bool was_held = held != calls_.end();
  if (was_held) EndCall(*held, now);
  if (abandoned != was_held) {
    Disagree(abandoned ? "a call was abandoned that had been answered"
                       : "a held call could not be abandoned");
  }
}

CommandModel::Absence& CommandModel::AbsenceOf(const ModelCall& call) {
  for (Absence& absence : absences_) {
    if (absence.target == call.target && absence.worker == call.worker) return absence;
  }
  return absences_.emplace_back(Absence{call.target, call.worker, absl::InfinitePast()});
}

void CommandModel::EndCall(const ModelCall& call, absl::Time now) {
  Absence& absence = AbsenceOf(call);
  absence.back_by = std::max(absence.back_by, now + call.back_within);
  std::erase_if(calls_, [slot = call.slot](const ModelCall& other) { return other.slot == slot; });
}

void CommandModel::GiveBack(int command, int delivery) {
  BeginStep();
  ModelCommand& known = At(command);
  ModelDelivery& undone = known.deliveries[static_cast<size_t>(delivery)];
  if (known.removed || known.view.state != CommandState::kDelivered || undone.given_back ||
      delivery + 1 != static_cast<int>(known.deliveries.size())) {
    return;
  }
  undone.given_back = true;
  Reach("event a lease is given back");
  known.view.state = CommandState::kQueued;
  --known.view.attempt;
  known.view.trace = undone.trace_before;
  known.view.deliver_time = undone.deliver_time_before;
  // Its clock is where it was when it was registered.
  known.start_by = known.ready_time + known.clocks.schedule_to_start;
  if (known.view.attempt == 0) known.late = absl::ZeroDuration();
  known.worker.clear();
  for (const ModelDelivery& earlier : known.deliveries) {
    if (!earlier.given_back) known.worker = earlier.worker;
  }

  // Its client has had its turn all the same.
  UpdateTurn(known);
  Change(known);
}

bool CommandModel::Proves(const ModelCommand& command, const ModelProof& proof) const {
  if (command.human()) return true;
  switch (proof.token) {
    case ModelProof::Token::kForged:
      return false;
    case ModelProof::Token::kNone:
      return command.view.attempt > 0 &&
             (proof.attempt == 0 || proof.attempt == command.view.attempt);
    case ModelProof::Token::kOfDelivery:
      break;
  }
  const ModelDelivery& delivery = command.deliveries[static_cast<size_t>(proof.delivery)];
  return !delivery.given_back && (proof.attempt == 0 || proof.attempt == delivery.attempt);
}

void CommandModel::Acknowledge(int command, const ModelProof& proof,
                               const std::optional<std::string>& progress,
                               const std::string& context, absl::Time now,
                               const absl::Status& status, std::optional<CommandState> state,
                               bool cancel_requested) {
  BeginStep();
  if (context.size() > kMaxContextBytes) {
    Expect(status, {"INVALID_ARGUMENT invalid_argument"});
    return;
  }
  if (command < 0 || (At(command).removed && !At(command).tombstone)) {
    Expect(status, {"NOT_FOUND unknown_command"});
    return;
  }
  ModelCommand& known = At(command);
  // A tombstone knows how the command ended, and no leases.
  if (!known.removed && !Proves(known, proof)) {
    Expect(status, {"PERMISSION_DENIED wrong_lease"});
    return;
  }
  if (!Expect(status, {"ok"})) return;
  if (!known.ended()) {
    const bool started = known.view.state != CommandState::kRunning;
    if (known.view.state == CommandState::kQueued && !known.human()) {
      Reach("event an ended lease is acknowledged");
    }
    const bool changed = started || progress.has_value() || !context.empty();
    known.view.state = CommandState::kRunning;
    known.last_heartbeat = now;
    if (progress.has_value()) known.view.progress = *progress;
    if (!context.empty()) known.view.context = context;
    if (started) {
      known.view.start_time = now;
      AddTrace(known.view, "started/worker");
      UpdateTurn(known);
    }
    if (changed) Change(known);
  }
  if (state != known.view.state) {
    Disagree(absl::StrCat("the worker is told ", CommandStateName(*state), " instead of ",
                          CommandStateName(known.view.state)));
  }
  if (cancel_requested != (known.view.state == CommandState::kCancelled)) {
    Disagree("cancel_requested does not tell whether the command was cancelled");
  }
}

void CommandModel::Complete(int command, const ModelProof& proof, const CommandOutcome& outcome,
                            const std::string& context, absl::Time now, const absl::Status& status,
                            std::optional<CommandState> state, bool accepted) {
  BeginStep();
  const auto* result = std::get_if<CommandResult>(&outcome);
  if (context.size() > kMaxContextBytes) {
    Expect(status, {"INVALID_ARGUMENT invalid_argument"});
    return;
  }
  if (result != nullptr && Bytes(result->value).size() > kMaxResultBytes) {
    Expect(status, {"INVALID_ARGUMENT result_too_large"});
    return;
  }
  if (command < 0 || (At(command).removed && !At(command).tombstone)) {
    Expect(status, {"NOT_FOUND unknown_command"});
    return;
  }
  ModelCommand& known = At(command);
  // A tombstone knows how the command ended, and no leases.
  if (!known.removed && !Proves(known, proof)) {
    Expect(status, {"PERMISSION_DENIED wrong_lease"});
    return;
  }
  if (!Expect(status, {"ok"})) return;
  if (accepted == known.ended()) {
    Disagree(accepted ? "a report about an ended command was accepted"
                      : "a report was not accepted though the command had not ended");
    return;
  }
  // Without a token it is taken for the newest.
  int reporter = -1;
  for (size_t i = 0; i < known.deliveries.size(); ++i) {
    if (!known.deliveries[i].given_back) reporter = static_cast<int>(i);
  }
  if (proof.token == ModelProof::Token::kOfDelivery) {
    if (known.deliveries[static_cast<size_t>(proof.delivery)].worker != known.worker &&
        !known.ended()) {
      Reach("event a result of an earlier worker is accepted");
    }
    reporter = proof.delivery;
  }
  if (known.ended()) {
    if (result != nullptr && known.view.state != CommandState::kCompleted && !known.removed &&
        !known.has_late_result && BytesFit(known, Bytes(result->value).size())) {
      known.has_late_result = true;
      Reach("event a late result is kept");
      known.view.late_result = Bytes(result->value);
      AddTrace(known.view, "late_result/worker");
      Change(known);
    }
    if (result != nullptr || kEveryLateReportCounts) ++late_results_;
  } else {
    const bool fits = result == nullptr || BytesFit(known, Bytes(result->value).size());
    if (!context.empty()) known.view.context = context;
    if (known.view.state == CommandState::kQueued && !known.human()) {
      Reach("event a queued command is completed");
    }
    if (result != nullptr) {
      if (!fits) {
        End(known, CommandState::kFailed,
            CommandError{.code = "result_dropped", .may_have_executed = true}, "worker", now,
            reporter);
      } else {
        known.view.result = Bytes(result->value);
        End(known, CommandState::kCompleted, std::nullopt, "worker", now, reporter);
      }
    } else {
      const auto* failure = std::get_if<CommandFailure>(&outcome);
      CommandError error = failure ? failure->error : std::get<CommandTimeout>(outcome).error;
      if (error.code.empty()) error.code = "execution_failed";
      if (failure == nullptr) {
        error.code = "execution_timeout";
        error.may_have_executed = true;
      }
      End(known, failure ? CommandState::kFailed : CommandState::kTimedOut, std::move(error),
          "worker", now, reporter);
    }
  }
  if (state != known.view.state) {
    Disagree(absl::StrCat("the worker is told ", CommandStateName(*state), " instead of ",
                          CommandStateName(known.view.state)));
  }
}

// Changes of one command.

void CommandModel::Deliver(ModelCommand& command, const std::string& worker, absl::Time now) {
  if (command.view.attempt > 0) Reach("event redelivered");
  command.deliveries.push_back({.attempt = command.view.attempt + 1,
                                .worker = worker,
                                .trace_before = command.view.trace,
                                .deliver_time_before = command.view.deliver_time});
  if (command.view.attempt == 0 && !command.clocks.schedule_to_close.has_value()) {
    command.late =
        std::max(now - command.ready_time - command.clocks.schedule_to_start, absl::ZeroDuration());
  }
  command.view.state = CommandState::kDelivered;
  ++command.view.attempt;
  command.view.deliver_time = now;
  AddTrace(command.view, "sent/tracker");
  command.worker = worker;
  TurnOf(command).since = ++turn_;
  UpdateTurn(command);
  Change(command);
}

void CommandModel::Return(ModelCommand& command) {
  command.view.state = CommandState::kQueued;
  AddTrace(command.view, "returned/tracker");
  UpdateTurn(command);
  Change(command);
}

void CommandModel::End(ModelCommand& command, CommandState state, std::optional<CommandError> error,
                       const char* source, absl::Time now, int reporter) {
  const bool by_tracker = absl::string_view(source) == "tracker" ||
                          (error.has_value() && error->code == "result_dropped");
  Reach(absl::StrCat("end ", CommandStateName(state), " ", by_tracker ? error->code : "by its ",
                     by_tracker ? "" : source));
  command.view.state = state;
  command.view.end_time = now;
  AddTrace(command.view, absl::StrCat("resolved/", source).c_str());
  if (error.has_value()) {
    command.view.error_code = error->code.substr(0, kMaxErrorCodeBytes);
    command.view.may_have_executed = error->may_have_executed;
    // What the tracker itself says to people is not in the contract.
    if (!error->message.empty()) {
      command.view.error_message = error->message.substr(0, kMaxErrorMessageBytes);
      command.view.error_hint = error->hint.substr(0, kMaxHintBytes);
    }
    // A person may have begun without a word.
    if (command.human() && !error->may_have_executed) command.view.may_have_executed.reset();
  }
  UpdateTurn(command);
  for (size_t i = 0; i < command.deliveries.size(); ++i) {
    const ModelDelivery& delivery = command.deliveries[i];
    if (delivery.given_back || static_cast<int>(i) == reporter) continue;
    // Of several workers the last one that had it. Whether it is told where it reported the end of
    // another delivery is not said.
    if (delivery.worker != command.worker) continue;
    const bool must_be_told =
        reporter < 0 || command.deliveries[static_cast<size_t>(reporter)].worker != delivery.worker;
    if (mistake_ == ModelMistake::kTellsNoEndsToWorkers) continue;
    std::erase_if(untold_, [&](const UntoldEnd& other) {
      return other.command == command.number && other.worker == delivery.worker;
    });
    untold_.push_back({.target = command.target(),
                       .worker = delivery.worker,
                       .command = command.number,
                       .must_be_told = must_be_told});
  }
  Change(command);
  if (state != CommandState::kCompleted) EnterFailedRing(command, now);
}

void CommandModel::EnterFailedRing(ModelCommand& command, absl::Time now) {
  command.ended_step = step_;
  command.kept_since = now;
  // What the client has cancelled is kept apart.
  const bool cancelled = command.view.state == CommandState::kCancelled;
  std::vector<int> ring;
  for (const ModelCommand& other : commands_) {
    if (!other.removed && other.ended_step > 0 && other.client() == command.client() &&
        (other.view.state == CommandState::kCancelled) == cancelled) {
      ring.push_back(other.number);
    }
  }
  if (ring.size() <= limits_.failed_of_client) return;
  const auto age = [&](int number) { return At(number).ended_step; };
  const uint64_t oldest =
      age(*absl::c_min_element(ring, [&](int a, int b) { return age(a) < age(b); }));
  std::erase_if(ring, [&](int number) { return age(number) != oldest; });
  int pushed_out = ring.front();
  if (ring.size() > 1) {
    const auto gone = absl::c_find_if(ring, [&](int number) { return reader_(number) != "ok"; });
    if (gone == ring.end()) return Disagree("nothing was pushed out of the failed ring");
    pushed_out = *gone;
  }
  Reach(cancelled ? "limit failed_of_client, cancelled" : "limit failed_of_client");
  Remove(At(pushed_out), now);
}

void CommandModel::Remove(ModelCommand& command, absl::Time now) {
  command.removed = true;
  command.remove_time = now;
  command.removed_step = step_;
  command.tombstone = limits_.tombstones > 0 && mistake_ != ModelMistake::kForgetsTombstones;
  changed_.insert(command.number);
  // It may have been told before it was removed, where that was in the same millisecond.
  for (UntoldEnd& end : untold_) {
    if (end.command == command.number) end.must_be_told = false;
  }
  EvictTombstones(command.partition);
}

void CommandModel::EvictTombstones(uint8_t partition) {
  std::vector<int> kept;
  for (const ModelCommand& command : commands_) {
    if (command.tombstone && command.partition == partition) kept.push_back(command.number);
  }
  if (kept.size() <= limits_.tombstones) return;
  const auto age = [&](int number) { return At(number).removed_step; };
  const uint64_t oldest =
      age(*absl::c_min_element(kept, [&](int a, int b) { return age(a) < age(b); }));
  std::erase_if(kept, [&](int number) { return age(number) != oldest; });
  int dropped = kept.front();
  if (kept.size() > 1) {
    const auto gone = absl::c_find_if(
        kept, [&](int number) { return reader_(number) == "NOT_FOUND unknown_command"; });
    if (gone == kept.end()) return Disagree("more tombstones are kept than the limit says");
    dropped = *gone;
  }
  Reach("limit tombstones");
  At(dropped).tombstone = false;
  changed_.insert(dropped);
}

// Turns.

CommandModel::Turn& CommandModel::TurnOf(const ModelCommand& command) {
  for (Turn& turn : turns_) {
    if (turn.target == command.target() && turn.client == command.client()) return turn;
  }
  return turns_.emplace_back(Turn{.target = command.target(), .client = command.client()});
}

void CommandModel::UpdateTurn(const ModelCommand& command) {
  Turn& turn = TurnOf(command);
  const bool waiting = absl::c_any_of(commands_, [&](const ModelCommand& other) {
    return other.queued() && other.released && other.target() == command.target() &&
           other.client() == command.client();
  });
  if (waiting && !turn.waiting) turn.since = any_order_ ? any_order_from_ : ++turn_;
  turn.waiting = waiting;
}

bool CommandModel::MayBeDelivered(const ModelCommand& command) const {
  if (!command.queued() || !command.released) return false;
  const std::string& key = command.request.ordering_key;
  if (key.empty() || mistake_ == ModelMistake::kIgnoresOrderingKeys) return true;
  return absl::c_none_of(commands_, [&](const ModelCommand& other) {
    // One that went back to the queue has not ended, and its worker may be at work.
    return other.number != command.number && !other.removed && !other.ended() && !other.human() &&
           other.target() == command.target() && other.request.ordering_key == key &&
           other.view.attempt > 0;
  });
}

std::vector<int> CommandModel::NextDeliveries(const std::string& target) const {
  std::vector<int> next;
  uint64_t longest = 0;
  for (const Turn& turn : turns_) {
    if (turn.target != target) continue;
    const ModelCommand* first = nullptr;
    for (const ModelCommand& command : commands_) {
      if (command.target() != target || command.client() != turn.client) continue;
      if (!MayBeDelivered(command)) continue;
      if (any_order_) next.push_back(command.number);
      if (first == nullptr || (command.request.priority > first->request.priority &&
                               mistake_ != ModelMistake::kIgnoresPriorities)) {
        first = &command;
      }
    }
    if (first == nullptr || any_order_) continue;
    const uint64_t since = mistake_ == ModelMistake::kIgnoresTurns ? first->number : turn.since;
    if (next.empty() || since < longest) {
      next = {first->number};
      longest = since;
    } else if (since == longest) {
      next.push_back(first->number);
    }
  }
  return next;
}

// Answers to workers.

int CommandModel::Room(const ModelCall& call) const {
  int room = call.window + (mistake_ == ModelMistake::kWindowOfSix ? 1 : 0);
  for (const ModelCommand& command : commands_) {
    if (command.held() && command.target() == call.target && command.worker == call.worker) --room;
  }
  return std::max(room, 0);
}

bool CommandModel::HasNews(const ModelCall& call) const {
  if (absl::c_any_of(untold_, [&](const UntoldEnd& end) {
        return end.must_be_told && end.target == call.target && end.worker == call.worker;
      })) {
    return true;
  }
  return Room(call) > 0 && !NextDeliveries(call.target).empty();
}

void CommandModel::Settle(absl::Time now, const std::vector<ObservedAnswer>& answers) {
  for (const ObservedAnswer& answer : answers) {
    SettleAnswer(answer, now);
    if (!disagreement_.empty()) return;
  }
  for (const ModelCall& call : calls_) {
    if (draining_ || call.hold_until <= now) {
      Disagree(absl::StrCat("the call of slot ", call.slot, " is still held after its time"));
    }
    if (HasNews(call)) {
      Disagree(absl::StrCat("the call of slot ", call.slot, " is held though there are news for \"",
                            call.worker, "\""));
    }
  }
  if (any_order_) {
    for (Turn& turn : turns_) {
      if (turn.since >= any_order_from_) turn.since = any_order_from_;
    }
  }
  any_order_ = false;
  std::erase_if(untold_, [&](const UntoldEnd& end) { return At(end.command).removed; });
}

void CommandModel::SettleAnswer(const ObservedAnswer& answer, absl::Time now) {
  const auto held =
      absl::c_find_if(calls_, [&](const ModelCall& call) { return call.slot == answer.call; });
  const std::string name = absl::StrCat("the call of slot ", answer.call);
  if (held == calls_.end()) return Disagree(absl::StrCat(name, " was answered, but is not held"));
  const ModelCall call = *held;
  if (call.hold_until > now && !answer.leases.empty()) Reach("event a held call is given work");
  if (!answer.ended.empty()) Reach("event a worker is told of an end");
  if (answer.leases.empty() && answer.ended.empty()) {
    if (!draining_ && call.hold_until > now)
      Disagree(absl::StrCat(name, " was answered for nothing"));
    if (HasNews(call)) Disagree(absl::StrCat(name, " was not told its news"));
  }
  if (static_cast<int>(answer.leases.size()) > call.max_commands) {
    Disagree(absl::StrCat(name, " was given more than ", call.max_commands, " commands"));
  }
  SettleEnded(call, answer.ended);
  for (const ObservedAnswer::Lease& lease : answer.leases) {
    SettleLease(call, lease, now);
    if (!disagreement_.empty()) return;
  }
  if (!any_order_ && static_cast<int>(answer.leases.size()) < call.max_commands &&
      !(answer.leases.empty() && answer.ended.empty()) && HasNews(call)) {
    Disagree(absl::StrCat(name, " was given less than it could have been"));
  }
  EndCall(call, now);
}

void CommandModel::SettleLease(const ModelCall& call, const ObservedAnswer::Lease& lease,
                               absl::Time now) {
  const std::string name = absl::StrCat("the lease of #", lease.command, " to \"", call.worker,
                                        "\" of slot ", call.slot);
  if (Room(call) == 0) return Disagree(absl::StrCat(name, " goes beyond its window"));
  const std::vector<int> next = NextDeliveries(call.target);
  if (!absl::c_linear_search(next, lease.command)) {
    return Disagree(
        absl::StrCat(name, " is not its turn, but that of \"", absl::StrJoin(next, " or "), "\""));
  }
  ModelCommand& command = At(lease.command);
  Deliver(command, call.worker, now);
  const std::string difference = DifferenceOf(command.view, lease.view);
  if (!difference.empty()) Disagree(absl::StrCat(name, ": ", difference));
  const absl::Duration left = std::min(command.clocks.start_to_close, CloseTime(command) - now);
  if (lease.start_to_close != left) {
    Disagree(absl::StrCat(name, " may take ", absl::FormatDuration(lease.start_to_close),
                          " instead of ", absl::FormatDuration(left)));
  }
}

void CommandModel::SettleEnded(const ModelCall& call, const std::vector<int>& ended) {
  for (const int command : ended) {
    const size_t before = untold_.size();
    std::erase_if(untold_, [&](const UntoldEnd& end) {
      return end.command == command && end.target == call.target && end.worker == call.worker;
    });
    if (untold_.size() == before) {
      Disagree(absl::StrCat("the call of slot ", call.slot, " tells ", call.worker,
                            " of the end of #", command, ", which is no news"));
    }
  }
}

// Deadlines.

CommandModel::Due CommandModel::NextDue(const ModelCommand& command) const {
  Due due = NextClock(command);
  due.at = WholeMillisecond(due.at);
  return due;
}

CommandModel::Due CommandModel::NextClock(const ModelCommand& command) const {
  if (command.removed) {
    return {Clock::kRetention,
            command.tombstone ? command.remove_time + clocks_.tombstone_retention : kNever};
  }
  if (command.ended()) {
    return {Clock::kRetention, command.view.state == CommandState::kCompleted
                                   ? command.view.end_time + command.clocks.result_retention
                                   : command.kept_since + clocks_.failed_retention};
  }
  Due next = {Clock::kClose, CloseTime(command)};
  // Of clocks that run out together the one that says more is meant.
  const auto also = [&](Clock clock, absl::Time at) {
    if (at <= next.at) next = {clock, at};
  };
  if (command.human()) return next;
  const CommandDeadlines& clocks = command.clocks;
  // Nothing else ends a command that waits for its first delivery.
  if (command.view.state == CommandState::kQueued && command.released &&
      command.view.attempt == 0) {
    return {Clock::kStart, command.start_by};
  }
  switch (command.view.state) {
    case CommandState::kQueued:
      if (!command.released) also(Clock::kNotBefore, command.ready_time);
      break;
    case CommandState::kDelivered:
      also(Clock::kExecution, command.view.deliver_time + clocks.start_to_close + clocks.backstop);
      also(Clock::kAck, command.view.deliver_time + clocks.ack_wait);
      break;
    default:
      also(Clock::kExecution, command.view.deliver_time + clocks.start_to_close + clocks.backstop);
      also(Clock::kHeartbeat, command.last_heartbeat + clocks.heartbeat_timeout);
  }
  return next;
}

absl::Time CommandModel::NextDeadline() const {
  absl::Time next = kNever;
  for (const ModelCommand& command : commands_) next = std::min(next, NextDue(command).at);
  for (const ModelCall& call : calls_) next = std::min(next, WholeMillisecond(call.hold_until));
  for (const ModelWatch& watch : watches_) next = std::min(next, WholeMillisecond(watch.until));
  return next;
}

int CommandModel::CountDue(absl::Time time) const {
  int due = 0;
  for (const ModelCommand& command : commands_) due += NextDue(command).at <= time ? 1 : 0;
  for (const ModelCall& call : calls_) due += WholeMillisecond(call.hold_until) <= time ? 1 : 0;
  for (const ModelWatch& watch : watches_) due += WholeMillisecond(watch.until) <= time ? 1 : 0;
  return due;
}

void CommandModel::Fire(absl::Time now) {
  BeginStep();
  any_order_from_ = ++turn_;
  any_order_ = CountDue(now) > 1;
  if (any_order_) Reach("event several deadlines at once");
  for (size_t i = watches_.size(); i-- > 0;) {
    if (WholeMillisecond(watches_[i].until) > now) continue;
    Push(watches_[i].feed, {.watch_id = watches_[i].watch_id, .last = true});
    EndWatch(watches_[i].watch_id);
  }
  for (size_t i = 0; i < commands_.size(); ++i) {
    for (Due due = NextDue(commands_[i]); due.at <= now; due = NextDue(commands_[i])) {
      FireCommand(commands_[i], due.clock, now);
    }
  }
}

absl::Time CommandModel::CloseTime(const ModelCommand& command) const {
  return command.ready_time + command.schedule_to_close + command.late;
}

bool CommandModel::WaitsForWorker(ModelCommand& command, absl::Time now) {
  if (draining_ || mistake_ == ModelMistake::kExpectsNobodyBack) return false;
  absl::Time back_by = absl::InfinitePast();
  for (const Absence& absence : absences_) {
    const bool held = absl::c_any_of(calls_, [&](const ModelCall& call) {
      return call.target == absence.target && call.worker == absence.worker;
    });
    if (absence.target == command.target() && !held) back_by = std::max(back_by, absence.back_by);
  }
  const absl::Duration longest =
      command.clocks.schedule_to_close.value_or(command.clocks.schedule_to_start + kMaxBackWithin);
  const absl::Time until = std::min(back_by, command.ready_time + longest);
  if (until <= now) return false;
  Reach("event a command waits for a suspended worker");
  command.start_by = until;
  return true;
}

void CommandModel::FireCommand(ModelCommand& command, Clock clock, absl::Time now) {
  const auto end = [&](CommandState state, const char* code, bool executed) {
    End(command, state, CommandError{.code = code, .may_have_executed = executed}, "tracker", now,
        -1);
  };
  const bool may_have_executed = MayHaveExecuted(command);
  switch (clock) {
    case Clock::kNotBefore:
      command.released = true;
      return UpdateTurn(command);
    case Clock::kStart:
      if (WaitsForWorker(command, now)) return;
      return end(CommandState::kExpired, "never_delivered", may_have_executed);
    case Clock::kAck:
      if (command.request.idempotent && command.view.attempt < kMaxAttempts &&
          mistake_ != ModelMistake::kNeverRedelivers) {
        return Return(command);
      }
      return end(CommandState::kExpired, "extension_no_response", true);
    case Clock::kHeartbeat:
      return end(CommandState::kFailed, "worker_lost", true);
    case Clock::kExecution:
      return end(CommandState::kTimedOut, "execution_timeout", true);
    case Clock::kClose:
      return end(CommandState::kExpired,
                 command.human() ? "user_did_not_finish" : "schedule_to_close", may_have_executed);
    case Clock::kRetention:
      break;
  }
  if (command.removed) {
    Reach("event a tombstone is forgotten in time");
    command.tombstone = false;
    changed_.insert(command.number);
  } else if (command.view.state == CommandState::kCompleted && !command.collected) {
    command.view.state = CommandState::kExpired;
    command.view.result.clear();
    command.view.error_code = "result_expired";
    AddTrace(command.view, "resolved/tracker");
    Reach("end expired result_expired");
    command.view.may_have_executed = true;
    Change(command);
    EnterFailedRing(command, now);
  } else {
    Remove(command, now);
  }
}

void CommandModel::Drain() {
  BeginStep();
  draining_ = true;
  for (const ModelWatch& watch : watches_) {
    Push(watch.feed, {.watch_id = watch.watch_id, .last = true});
  }
  watches_.clear();
}

// Counts.

int64_t CommandModel::Queued(const std::string& target, const std::string* client) const {
  return absl::c_count_if(commands_, [&](const ModelCommand& command) {
    return command.queued() && command.target() == target &&
           (client == nullptr || command.client() == *client);
  });
}

bool CommandModel::BytesFit(const ModelCommand& command, size_t bytes) const {
  const auto more = static_cast<int64_t>(bytes);
  return CountBytes(nullptr) + more <= 2 * limits_.payload_bytes &&
         CountBytes(&command.client()) + more <= 2 * limits_.payload_bytes_of_client;
}

int64_t CommandModel::waits() const {
  const auto watches = absl::c_count_if(
      watches_, [](const ModelWatch& watch) { return watch.command >= 0 || !kFiltersAreNoWaits; });
  return static_cast<int64_t>(calls_.size()) + watches;
}

int64_t CommandModel::leased() const {
  return absl::c_count_if(commands_, [](const ModelCommand& command) { return command.held(); });
}

int64_t CommandModel::CountCommands(const std::string* client) const {
  return absl::c_count_if(commands_, [&](const ModelCommand& command) {
    return !command.removed && (client == nullptr || command.client() == *client);
  });
}

int64_t CommandModel::CountBytes(const std::string* client) const {
  int64_t bytes = 0;
  for (const ModelCommand& command : commands_) {
    if (!command.removed && (client == nullptr || command.client() == *client)) {
      bytes += command.payload_bytes();
    }
  }
  return bytes;
}

}  // namespace callslip::tracker
