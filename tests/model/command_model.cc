// The clients' side of CommandModel, and the changes of one command. The workers' side is in
// command_model_workers.cc, the deadlines are in command_model_deadlines.cc.
#include "model/command_model.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error_details.h"

namespace callslip::tracker {
namespace {

// Points that the contract leaves open, and what the table does there.
//
// A human command can't have a not_before in the future.
constexpr bool kHumansStartAtOnce = true;
// Watches by filter have their own limit, and count towards no other.
constexpr bool kFiltersAreNoWaits = true;

bool Within(const std::optional<absl::Duration>& clock, absl::Duration min, absl::Duration max) {
  return !clock.has_value() || (*clock >= min && *clock <= max);
}

// The tracker's deadlines with the overrides of one command.
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
  return BytesOf(request.params).empty() ? "{}" : BytesOf(request.params);
}

bool SameContent(const CommandRequest& a, const CommandRequest& b) {
  return a.target == b.target && a.type == b.type && ParamsOf(a) == ParamsOf(b) &&
         a.ordering_key == b.ordering_key && a.command_class == b.command_class &&
         a.idempotent == b.idempotent && a.priority == b.priority && a.not_before == b.not_before &&
         a.deadlines == b.deadlines;
}

}  // namespace

bool ModelCommand::held() const {
  return !removed && !worker.empty() &&
         (view.state == CommandState::kDelivered || view.state == CommandState::kRunning);
}

int64_t ModelCommand::payload_bytes() const {
  return params_bytes +
         static_cast<int64_t>(view.result.size() + view.context.size() + view.late_result.size());
}

bool ModelCommand::may_have_executed() const {
  return view.attempt > 0 || view.state == CommandState::kRunning;
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

bool CommandModel::Fits(const std::string& name) { return name.size() <= kMaxNameBytes; }

bool CommandModel::IsValid(const CommandRequest& request, absl::Time now) const {
  const DeadlineOverrides& own = request.deadlines;
  const bool human = request.command_class == CommandClass::kHuman;
  if (!Fits(request.client_id) || !Fits(request.target) || !Fits(request.request_id) ||
      !Fits(request.label) || !Fits(request.ordering_key)) {
    return false;
  }
  if (request.type.empty() || request.type.size() > kMaxTypeBytes) return false;
  if (BytesOf(request.params).size() > kMaxParamsBytes) return false;
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
    const bool is_known = !command.removed || command.tombstone;
    if (is_known && command.client() == client && command.request.request_id == request_id) {
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
  if (known != nullptr && !known->removed && command >= 0 && known->replay_of == command) {
    // A retry is safe, even if the old command is gone.
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
    if (known->removed) {
      Expect(status, {"ALREADY_EXISTS command_removed"});
    } else if (known->replay_of != replay_of || !SameContent(known->request, request)) {
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
    // The contract gives its default only as "as long as the clocks can run one after the other".
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
      // The contract does not say whether another error code makes it another end.
      Expect(status, {"ok", "FAILED_PRECONDITION already_ended"});
    }
    return;
  }
  if (!Expect(status, {"ok"})) return;
  error.may_have_executed = known.may_have_executed();
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
  ModelUpdate update{.watch_id = watch.watch_id,
                     .command = command.number,
                     .view = command.view,
                     .revision = command.revision,
                     .of_filter = watch.command < 0};
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
    // Like lists, without results.
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

bool CommandModel::HasPassed(const ModelUpdate& waiting) const {
  if (waiting.command < 0 || waiting.of_filter) return false;
  const ModelCommand& command = commands_[static_cast<size_t>(waiting.command)];
  return command.removed || command.revision != waiting.revision;
}

bool CommandModel::MayBe(const ModelUpdate& waiting, const ModelUpdate& update,
                         std::string& difference) const {
  if (waiting.watch_id != update.watch_id || waiting.last != update.last) return false;
  const bool has_passed = HasPassed(waiting);
  if (waiting.command == update.command && waiting.error == update.error) {
    if (waiting.command < 0) return true;
    difference = DifferenceOf(waiting.view, update.view);
    if (difference.empty() || !has_passed) return true;
    // The current state of the command is valid too.
    const ModelCommand& command = commands_[static_cast<size_t>(waiting.command)];
    difference = DifferenceOf(command.view, update.view);
    return true;
  }
  return has_passed && update.command < 0 && update.error == OutcomeOfReading(waiting.command);
}

void CommandModel::Take(int feed, size_t max, const std::vector<ModelUpdate>& taken, size_t left,
                        bool is_lost) {
  BeginStep();
  std::vector<ModelUpdate>& waiting = feeds_[static_cast<size_t>(feed)].updates;
  if (taken.size() != max && left != 0) {
    Disagree(absl::StrCat("the feed gave ", taken.size(), " updates and has ", left));
    return;
  }
  uint64_t newest = 0;
  for (const ModelUpdate& update : taken) {
    const std::string name = absl::StrCat("the update of watch ", update.watch_id, ", command #",
                                          update.command, update.last ? ", last" : "");
    std::string difference;
    const auto known = absl::c_find_if(waiting, [&](const ModelUpdate& candidate) {
      return MayBe(candidate, update, difference);
    });
    if (known == waiting.end()) {
      Disagree(absl::StrCat(name, " ", update.error, " was not expected"));
      return;
    }
    if (!difference.empty()) Disagree(absl::StrCat(name, ": ", difference));
    if (known->step < newest) Disagree(absl::StrCat(name, " comes after a newer one"));
    newest = known->step;
    const bool collects = !is_lost || mistake_ == ModelMistake::kLostUpdatesCollect;
    if (update.command >= 0 && update.last && collects) At(update.command).collected = true;
    waiting.erase(known);
  }
  // Past states may be omitted.
  for (auto it = waiting.begin(); it != waiting.end() && waiting.size() > left;) {
    it = HasPassed(*it) && !it->last ? waiting.erase(it) : it + 1;
  }
  if (waiting.size() != left) {
    Disagree(absl::StrCat(left, " updates wait instead of ", waiting.size()));
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
  // Tell() removes a watch that gets the end; hence the reverse order.
  for (size_t i = watches_.size(); i-- > 0;) Tell(watches_[i], command);
}

// Changes of one command.

void CommandModel::Deliver(ModelCommand& command, const std::string& worker, absl::Time now) {
  if (command.view.attempt > 0) Reach("event redelivered");
  command.deliveries.push_back({.attempt = command.view.attempt + 1,
                                .worker = worker,
                                .without_proof = without_proof_.contains(worker),
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
    // The messages of the tracker itself are not in the contract.
    if (!error->message.empty()) {
      command.view.error_message = error->message.substr(0, kMaxErrorMessageBytes);
      command.view.error_hint = error->hint.substr(0, kMaxHintBytes);
    }
    // A person may have started without a report.
    if (command.human() && !error->may_have_executed) command.view.may_have_executed.reset();
  }
  UpdateTurn(command);
  for (size_t i = 0; i < command.deliveries.size(); ++i) {
    const ModelDelivery& delivery = command.deliveries[i];
    if (delivery.given_back || static_cast<int>(i) == reporter) continue;
    // Only the worker with the last delivery is notified. The contract does not say whether it is
    // notified if it reported the end of another delivery.
    if (delivery.worker != command.worker) continue;
    const bool must_be_told =
        reporter < 0 || command.deliveries[static_cast<size_t>(reporter)].worker != delivery.worker;
    if (mistake_ == ModelMistake::kTellsNoEndsToWorkers) continue;
    std::erase_if(unreported_, [&](const UnreportedEnd& other) {
      return other.command == command.number && other.worker == delivery.worker;
    });
    unreported_.push_back({.target = command.target(),
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
  // Cancelled commands have their own ring.
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
  // The worker may have been notified before the removal, in the same millisecond.
  for (UnreportedEnd& end : unreported_) {
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
  // A client with more than half of them makes room.
  std::map<std::string, size_t> of_client;
  for (const int number : kept) ++of_client[At(number).client()];
  for (const auto& [client, count] : of_client) {
    if (2 * count <= kept.size()) continue;
    std::erase_if(kept, [&](int number) { return At(number).client() != client; });
    break;
  }
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
