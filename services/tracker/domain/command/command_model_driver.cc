#include "tracker/domain/command/command_model_driver.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "tracker/storage/sqlite_command_storage.h"

namespace callslip::tracker {
namespace {

// Every clock is a multiple of this, and no two operations come at the same time modulo it: two
// deadlines come in the same millisecond only where they follow from the same operation.
constexpr int64_t kTimeGridMs = 500;

Payload JsonOf(size_t bytes, int slot) {
  if (bytes == 0) return nullptr;
  std::string text = absl::StrCat("{\"n\":", slot, "}");
  if (text.size() < bytes) text.insert(text.size() - 1, bytes - text.size(), ' ');
  return std::make_shared<const std::string>(std::move(text));
}

const Payload& HugeResult() {
  static const auto* const result =
      new Payload(std::make_shared<const std::string>(kMaxResultBytes + 1, ' '));
  return *result;
}

// Restarts that change nothing are the ones that can be compared.
Setup WithoutGrace(Setup setup) {
  setup.clocks.restart_grace = absl::ZeroDuration();
  return setup;
}

std::unique_ptr<CommandStorage> NewStorage() {
  auto storage = SqliteCommandStorage::Open(":memory:", SqliteCommandStorage::Sync::kAtCheckpoints);
  if (!storage.ok()) std::abort();
  return *std::move(storage);
}

}  // namespace

ModelDriver::ModelDriver(const Setup& setup, ModelMistake mistake)
    : setup_(WithoutGrace(setup)),
      storage_(setup.restarts ? NewStorage() : nullptr),
      table_(setup_.clocks, setup_.limits, setup_.restarts ? &journal_ : nullptr),
      model_(setup.clocks, setup.limits, kFeeds, mistake,
             [this](int command) { return Read(command); }),
      now_(absl::FromUnixSeconds(1'769'947'200)) {
  for (int i = 0; i < kFeeds; ++i) feeds_.push_back(std::make_shared<CountingFeed>());
  table_.SetDeadlineListener([this](absl::Time time) { armed_ = std::min(armed_, time); });
}

// Time.

void ModelDriver::FireAt(absl::Time time) {
  now_ = std::max(now_, time);
  table_.FireDeadlines(now_);
  armed_ = table_.NextDeadlineTime();
  model_.Fire(now_);
  Settle();
}

void ModelDriver::FireWhatIsDue() {
  for (int i = 0; i < 100 && !failed() && model_.NextDeadline() <= now_; ++i) FireAt(now_);
}

void ModelDriver::MoveTo(absl::Time target) {
  while (!failed()) {
    const absl::Time next = model_.NextDeadline();
    if (std::min(next, armed_) > target) break;
    if (armed_ < next && setup_.fires_early) {
      const absl::Time early = armed_;
      FireAt(early);
      if (armed_ <= early) model_.Disagree("NextDeadlineTime() does not move on");
    } else if (next <= target) {
      FireAt(next);
    } else {
      break;
    }
  }
  now_ = std::max(now_, target);
}

void ModelDriver::MoveToFreeTime(bool within_ms) {
  if (used_times_.size() >= kTimeGridMs) used_times_.clear();
  int64_t time_ms = absl::ToUnixMillis(now_ + absl::Nanoseconds(999'999));
  while (!used_times_.insert(time_ms % kTimeGridMs).second) ++time_ms;
  // Its deadlines fire at the first whole millisecond after them, which is that of this time.
  const absl::Time time = absl::FromUnixMillis(time_ms);
  MoveTo(within_ms ? std::max(now_, time - absl::Microseconds(400)) : time);
}

void ModelDriver::DoJump() {
  const absl::Time first = model_.NextDeadline();
  if (first == absl::InfiniteFuture()) return;
  absl::Time time = first + absl::Milliseconds(1);
  while (!used_times_.insert(absl::ToUnixMillis(time) % kTimeGridMs).second) {
    time += absl::Milliseconds(1);
  }
  // Over one deadline only: the order of several is for the table to choose.
  if (model_.CountDue(time) == model_.CountDue(first)) FireAt(time);
}

// Looking things up.

std::optional<int> ModelDriver::Find(int slot) const {
  if (slot == kMadeUp) return -1;
  const auto found = commands_by_slot_.find(slot);
  if (found == commands_by_slot_.end()) return std::nullopt;
  return found->second;
}

std::string ModelDriver::IdOf(int command, int slot) const {
  if (command >= 0) return known_[static_cast<size_t>(command)].id.ToString();
  switch (slot % 4) {
    case 0:
      return "corr-1769947200000-00112233445566778899aabbccddeeff";
    case 1:
      return "ann_1769947200000_ff112233445566778899aabbccddeeff";  // Of a partition too many.
    case 2:
      return "corr-1769947200000-0011";
    default:
      return "no id at all";
  }
}

CommandFilter ModelDriver::FilterOf(const Op& op) const {
  CommandFilter filter;
  for (int i = 0; i < kCommandStateCount; ++i) {
    if ((op.states >> i & 1) != 0) filter.states.push_back(static_cast<CommandState>(i));
  }
  if (op.filter_target) filter.target = kTargets[static_cast<size_t>(op.target)];
  filter.label = kLabels[static_cast<size_t>(op.filter_label)];
  return filter;
}

std::optional<ModelDriver::Quoted> ModelDriver::Quote(const Op& op, int command) {
  Quoted quoted;
  if (command < 0) {
    quoted.proof.token = LeaseToken::New();
    quoted.model.token = ModelProof::Token::kForged;
    return quoted;
  }
  const Known& known = known_[static_cast<size_t>(command)];
  const int present = model_.commands()[static_cast<size_t>(command)].view.attempt;
  const int deliveries = static_cast<int>(known.leases.size());
  switch (op.proof) {
    case Proof::kNone:
      quoted.model.attempt = op.with_attempt ? present : 0;
      break;
    case Proof::kForged:
      quoted.model.token = ModelProof::Token::kForged;
      quoted.proof.token = LeaseToken::New();
      break;
    case Proof::kOtherCommand:
      quoted.model.token = ModelProof::Token::kForged;
      for (const Known& other : known_) {
        if (&other == &known || other.leases.empty()) continue;
        quoted.proof.token = other.leases.back().token;
      }
      if (!quoted.proof.token.has_value()) return std::nullopt;
      break;
    default: {
      const int index = op.proof == Proof::kOfDelivery ? op.delivery : deliveries - 1;
      if (index < 0 || index >= deliveries) return std::nullopt;
      quoted.model.token = ModelProof::Token::kOfDelivery;
      quoted.model.delivery = index;
      quoted.proof.token = known.leases[static_cast<size_t>(index)].token;
      const int attempt = known.leases[static_cast<size_t>(index)].command->attempt;
      if (op.with_attempt) quoted.model.attempt = attempt;
      if (op.proof == Proof::kWrongAttempt) quoted.model.attempt = attempt + 1;
    }
  }
  quoted.proof.attempt = quoted.model.attempt;
  return quoted;
}

// Registering.

CommandRequest ModelDriver::RequestOf(const Op& op) const {
  CommandRequest request;
  request.client_id = Client(op);
  request.target = Target(op);
  request.type = "click";
  request.params = JsonOf(static_cast<size_t>(op.params_bytes), op.slot);
  if (op.request_id != 0) request.request_id = absl::StrCat("request ", op.request_id);
  request.label = kLabels[static_cast<size_t>(op.label)];
  request.ordering_key = kKeys[static_cast<size_t>(op.key)];
  request.command_class = op.human ? CommandClass::kHuman : CommandClass::kStandard;
  request.idempotent = op.idempotent;
  request.priority = op.priority;
  if (op.not_before_ms != 0) request.not_before = now_ + absl::Milliseconds(op.not_before_ms);
  request.deadlines = OverridesOf(op.clocks);
  switch (op.flaw) {
    case 1:
      request.type = "";
      break;
    case 2:
      request.type = std::string(kMaxTypeBytes + 1, 't');
      break;
    case 3:
      request.priority = kMaxPriority + 1;
      break;
    case 4:
      request.label = std::string(kMaxNameBytes + 1, 'l');
      break;
    case 5:
      request.not_before = now_ + kMaxDelay + absl::Milliseconds(500);
      break;
    case 6:
      request.ordering_key = std::string(kMaxNameBytes + 1, 'k');
      break;
    default:
      break;
  }
  return request;
}

void ModelDriver::DoRegister(const Op& op) { RegisterRequest(op.slot, RequestOf(op)); }

void ModelDriver::DoRepeat(const Op& op) {
  const auto known = requests_.find(op.of);
  if (known == requests_.end()) return;
  CommandRequest request = known->second;
  switch (op.flaw) {
    case 1:
      request.label = "another label";
      break;
    case 2:
      request.type = "scroll";
      break;
    case 3:
      request.params = std::make_shared<const std::string>("{\"other\":1}");
      break;
    case 4:
      request.priority = request.priority == 7 ? 8 : 7;
      break;
    case 5:
      request.idempotent = !request.idempotent;
      break;
    case 6:
      // The same in other words.
      if (request.client_id == "local") request.client_id = "";
      if (request.target == "browser") request.target = "";
      if (request.params == nullptr) request.params = std::make_shared<const std::string>("{}");
      break;
    case 7:
      request.target = request.target == "scanner" ? "printer" : "scanner";
      break;
    case 8:
      request.ordering_key = "another key";
      break;
    default:
      break;
  }
  RegisterRequest(op.slot, request);
}

void ModelDriver::RegisterRequest(int slot, const CommandRequest& request) {
  requests_.emplace(slot, request);
  const auto answer = table_.Register(request, now_);
  const std::optional<ObservedRegistration> observed = Note(slot, answer);
  CommandRequest named = request;
  if (named.client_id.empty()) named.client_id = "local";
  if (named.target.empty()) named.target = "browser";
  if (observed.has_value() && !observed->existed) CheckSpec(*answer->command->spec, named);
  model_.Register(named, now_, answer.status(), observed);
  Settle();
}

void ModelDriver::CheckSpec(const CommandSpec& spec, const CommandRequest& request) {
  const std::string params = spec.params == nullptr ? "{}" : *spec.params;
  const std::string asked = request.params == nullptr ? "{}" : *request.params;
  if (spec.client_id() != request.client_id || spec.target() != request.target ||
      spec.type() != request.type || params != asked || spec.request_id() != request.request_id ||
      spec.label() != request.label || spec.ordering_key() != request.ordering_key ||
      spec.command_class != request.command_class || spec.idempotent != request.idempotent ||
      spec.priority != request.priority || spec.register_time != now_ ||
      spec.ready_time() != std::max(now_, request.not_before)) {
    model_.Disagree("the command is not what was asked for");
  }
  const bool human = request.command_class == CommandClass::kHuman;
  if (absl::StartsWith(spec.id.ToString(), "ann_") != human) {
    model_.Disagree("the id has the wrong prefix");
  }
}

void ModelDriver::DoReplay(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const std::string request_id = op.request_id == 0 ? "" : absl::StrCat("replay ", op.request_id);
  const auto answer = table_.Replay(Client(op), IdOf(*command, op.slot), request_id, now_);
  const std::optional<ObservedRegistration> observed = Note(op.slot, answer);
  if (observed.has_value() && !observed->existed) {
    CommandRequest asked = model_.commands()[static_cast<size_t>(*command)].request;
    asked.request_id = request_id;
    asked.not_before = absl::InfinitePast();
    CheckSpec(*answer->command->spec, asked);
    if (answer->command->spec->replay_of() != known_[static_cast<size_t>(*command)].id.ToString()) {
      model_.Disagree("replay_of does not name the old command");
    }
  }
  model_.Replay(kClients[static_cast<size_t>(op.client)], *command, request_id, now_,
                answer.status(), observed);
  Settle();
}

std::optional<ObservedRegistration> ModelDriver::Note(
    int slot, const absl::StatusOr<CommandRegistration>& answer) {
  if (!answer.ok()) {
    const ErrorDetails details = DetailsOf(answer.status());
    if (answer.status().code() == absl::StatusCode::kResourceExhausted &&
        !details.retry_after.has_value()) {
      model_.Disagree("a refusal does not say when to come again");
    }
    return std::nullopt;
  }
  const CommandSnapshot& command = *answer->command;
  const auto [entry, is_new] =
      numbers_.try_emplace(command.spec->id, static_cast<int>(known_.size()));
  if (is_new) {
    known_.push_back({.id = command.spec->id, .slot = slot});
    commands_by_slot_[slot] = entry->second;
    if (command.revision != 1) model_.Disagree("revisions do not start at 1");
  }
  return ObservedRegistration{
      .command = entry->second,
      .existed = answer->existed,
      .partition = command.spec->id.partition(),
      .params_bytes = command.spec->params ? static_cast<int64_t>(command.spec->params->size()) : 0,
      .view = ViewOf(command),
      .clocks = *command.spec->deadlines};
}

// The client's other calls.

void ModelDriver::DoGet(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const auto answer = table_.Get(Client(op), IdOf(*command, op.slot), op.peek);
  model_.Get(kClients[static_cast<size_t>(op.client)], *command, op.peek, answer.status());
  if (answer.ok() && !failed()) {
    model_.CheckView(*command, ViewOf(**answer), (*answer)->revision);
  }
  Settle();
}

void ModelDriver::DoList(const Op& op) {
  Page next{.op = op};
  int after = -1;
  std::string token;
  if (op.of == kMadeUp) {
    const auto answer = table_.List(Client(op), {}, op.page_size, "no token of ours");
    if (OutcomeOf(answer.status()) != "INVALID_ARGUMENT invalid_page_token") {
      model_.Disagree("a made-up page token is accepted");
    }
    return;
  }
  if (op.of >= 0) {
    const auto before = pages_.find(op.of);
    if (before == pages_.end()) return;
    token = before->second.token;
    after = before->second.last;
    next.op = before->second.op;
  }
  const CommandFilter filter = FilterOf(next.op);
  const auto answer = table_.List(Client(next.op), filter, next.op.page_size, token);
  if (!answer.ok()) return model_.Disagree(absl::StrCat("List: ", OutcomeOf(answer.status())));
  std::vector<int> listed;
  for (const CommandPtr& command : answer->commands) {
    const auto number = numbers_.find(command->spec->id);
    listed.push_back(number == numbers_.end() ? -1 : number->second);
  }
  model_.List(kClients[static_cast<size_t>(next.op.client)], filter, next.op.page_size, after,
              listed, !answer->next_page_token.empty());
  if (failed()) return;
  for (size_t i = 0; i < listed.size(); ++i) {
    model_.CheckView(listed[i], ViewOf(*answer->commands[i]), answer->commands[i]->revision);
  }
  if (answer->next_page_token.empty()) return;
  next.token = answer->next_page_token;
  next.last = listed.back();
  pages_[op.slot] = next;
  page_slots_.push_back(op.slot);
}

void ModelDriver::DoCancel(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const auto answer = table_.Cancel(Client(op), IdOf(*command, op.slot), now_);
  model_.Cancel(kClients[static_cast<size_t>(op.client)], *command, now_, answer.status());
  if (answer.ok() && !failed()) {
    model_.CheckView(*command, ViewOf(**answer), (*answer)->revision);
  }
  Settle();
}

void ModelDriver::DoExpire(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  CommandError error;
  if (op.slot % 3 != 0) {
    error = {.code = op.slot % 3 == 1 ? "tab_gone" : std::string(kMaxErrorCodeBytes + 9, 'c'),
             .message = "The tab was closed.",
             .hint = "Open it."};
  }
  const auto answer = table_.Expire(Client(op), IdOf(*command, op.slot), error, now_);
  model_.Expire(kClients[static_cast<size_t>(op.client)], *command, error, now_, answer.status());
  if (answer.ok() && !failed()) {
    model_.CheckView(*command, ViewOf(**answer), (*answer)->revision);
  }
  Settle();
}

// Workers.

void ModelDriver::DoLease(const Op& op) {
  const absl::Time until =
      op.hold_ms < 0 ? absl::InfiniteFuture() : now_ + absl::Milliseconds(op.hold_ms);
  LeaseRequest request{
      .target = Target(op),
      .worker_id = op.blank && op.worker == 0 ? "" : kWorkers[static_cast<size_t>(op.worker)],
      .max_commands = op.max_commands,
      .window = op.window,
      .hold_until = until,
      .back_within = absl::Milliseconds(op.back_within_ms)};
  if (op.flaw == 1) request.worker_id = std::string(kMaxNameBytes + 1, 'w');
  if (op.flaw == 2) request.target = std::string(kMaxNameBytes + 1, 't');
  Call& call = calls_[op.slot];
  const auto callback = [this, slot = op.slot](WorkerNews news) {
    Call& answered = calls_[slot];
    if (++answered.answers > 1) model_.Disagree("a call was answered twice");
    if (answered.abandoned) model_.Disagree("an abandoned call was answered");
    news_.emplace_back(slot, std::move(news));
  };
  auto answer = table_.Lease(request, now_, callback);
  if (answer.ok()) call.handle = *answer;
  const ModelCall held{.slot = op.slot,
                       .target = request.target.empty() ? "browser" : request.target,
                       .worker = request.worker_id.empty() ? "default" : request.worker_id,
                       .max_commands = op.max_commands,
                       .window = op.window,
                       .hold_until = until,
                       .back_within = request.back_within};
  model_.Lease(held, now_, answer.status(), answer.ok() && *answer != nullptr, TakeAnswers());
  Check();
}

std::vector<ObservedAnswer> ModelDriver::TakeAnswers() {
  std::vector<ObservedAnswer> answers;
  for (const auto& [slot, news] : std::exchange(news_, {})) {
    ObservedAnswer& answer = answers.emplace_back(ObservedAnswer{.call = slot});
    for (const CommandLease& lease : news.leases) {
      const auto number = numbers_.find(lease.command->spec->id);
      if (number == numbers_.end()) {
        model_.Disagree("an unknown command was leased");
        continue;
      }
      known_[static_cast<size_t>(number->second)].leases.push_back(lease);
      answer.leases.push_back({.command = number->second,
                               .view = ViewOf(*lease.command),
                               .start_to_close = lease.start_to_close});
    }
    for (const auto& [id, token] : news.ended) {
      const auto number = numbers_.find(id);
      answer.ended.push_back(number == numbers_.end() ? -1 : number->second);
    }
  }
  return answers;
}

void ModelDriver::DoAbandon(const Op& op) {
  const auto call = calls_.find(op.of);
  if (call == calls_.end() || call->second.handle == nullptr) return;
  const bool abandoned = table_.Abandon(call->second.handle, now_);
  if (abandoned) call->second.abandoned = true;
  model_.Abandon(op.of, now_, abandoned);
  Settle();
}

void ModelDriver::DoGiveBack(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value() || *command < 0) return;
  const Known& known = known_[static_cast<size_t>(*command)];
  if (op.delivery < 0 || op.delivery >= static_cast<int>(known.leases.size())) return;
  const CommandLease lease = known.leases[static_cast<size_t>(op.delivery)];
  table_.GiveBack(lease, now_);
  model_.GiveBack(*command, op.delivery);
  Settle();
}

void ModelDriver::DoAcknowledge(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const std::optional<Quoted> quoted = Quote(op, *command);
  if (!quoted.has_value()) return;
  std::optional<CommandProgress> progress;
  std::optional<std::string> expected_progress;
  if (op.progress) {
    // Different each time, and sometimes too long.
    std::string message = absl::StrCat("step ", op.slot);
    if (op.slot % 4 == 0) message.append(kMaxProgressBytes, '.');
    progress = CommandProgress{.fraction = 0.25, .message = message};
    expected_progress = absl::StrCat(0.25, " ", message.substr(0, kMaxProgressBytes));
  }
  const Payload context = JsonOf(static_cast<size_t>(op.context_bytes), op.slot);
  const auto answer =
      table_.Acknowledge(IdOf(*command, op.slot), quoted->proof, progress, context, now_);
  model_.Acknowledge(*command, quoted->model, expected_progress, context ? *context : "", now_,
                     answer.status(), answer.ok() ? std::optional(answer->state) : std::nullopt,
                     answer.ok() && answer->cancel_requested);
  Settle();
}

void ModelDriver::DoComplete(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const std::optional<Quoted> quoted = Quote(op, *command);
  if (!quoted.has_value()) return;
  CommandError error{.message = "It failed.", .hint = "", .may_have_executed = op.slot % 2 == 0};
  if (op.slot % 3 == 1) error.code = "no_such_element";
  if (op.slot % 3 == 2) {
    error.code = std::string(kMaxErrorCodeBytes + 1, 'c');
    error.message = std::string(kMaxErrorMessageBytes + 1, 'm');
    error.hint = std::string(kMaxHintBytes + 1, 'h');
  }
  const Payload result = JsonOf(static_cast<size_t>(op.bytes), op.slot);
  CommandOutcome outcome =
      CommandResult{result != nullptr ? result : std::make_shared<const std::string>()};
  if (op.outcome == Outcome::kHugeResult) outcome = CommandResult{HugeResult()};
  if (op.outcome == Outcome::kError) outcome = CommandFailure{error};
  if (op.outcome == Outcome::kTimeout) outcome = CommandTimeout{error};
  const Payload context = JsonOf(static_cast<size_t>(op.context_bytes), op.slot);
  const auto answer =
      table_.Complete(IdOf(*command, op.slot), quoted->proof, outcome, context, now_);
  model_.Complete(*command, quoted->model, outcome, context ? *context : "", now_, answer.status(),
                  answer.ok() ? std::optional(answer->state) : std::nullopt,
                  answer.ok() && answer->accepted);
  Settle();
}

// Watches.

void ModelDriver::DoWatch(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const int64_t present =
      *command < 0 ? 0 : model_.commands()[static_cast<size_t>(*command)].revision;
  ModelWatch watch{.watch_id = op.slot,
                   .feed = op.feed,
                   .client = kClients[static_cast<size_t>(op.client)],
                   .command = *command,
                   .only_end = op.only_end};
  if (op.hold_ms > 0) watch.until = now_ + absl::Milliseconds(op.hold_ms);
  const int64_t after = std::max<int64_t>(0, present + op.after_revision);
  const auto answer =
      table_.Watch(IdOf(*command, op.slot), {.client_id = Client(op),
                                             .after_revision = after,
                                             .until = watch.until,
                                             .feed = feeds_[static_cast<size_t>(op.feed)],
                                             .watch_id = op.slot,
                                             .only_end = op.only_end});
  if (answer.ok()) watches_[op.slot] = *answer;
  if (*command < 0) {
    if (answer.ok()) model_.Disagree("a made-up id can be watched");
    return;
  }
  model_.Watch(watch, after, answer.status(), answer.ok() && answer->command != nullptr);
  Settle();
}

void ModelDriver::DoWatchAll(const Op& op) {
  const ModelWatch watch{.watch_id = op.slot,
                         .feed = op.feed,
                         .client = kClients[static_cast<size_t>(op.client)],
                         .filter = FilterOf(op),
                         .only_end = op.only_end};
  const auto answer = table_.WatchAll({.client_id = Client(op),
                                       .filter = watch.filter,
                                       .feed = feeds_[static_cast<size_t>(op.feed)],
                                       .watch_id = op.slot,
                                       .only_end = op.only_end});
  if (answer.ok()) watches_[op.slot] = *answer;
  model_.Watch(watch, 0, answer.status(), answer.ok() && answer->filter != nullptr);
  Settle();
}

void ModelDriver::DoUnwatch(const Op& op) {
  const auto watch = watches_.find(op.of);
  if (watch == watches_.end()) return;
  table_.Unwatch(watch->second);
  model_.Unwatch(op.of);
  Settle();
}

void ModelDriver::DoFailWatch(const Op& op) {
  feeds_[static_cast<size_t>(op.feed)]->Fail(op.slot, absl::NotFoundError("gone"));
  model_.FailWatch(op.feed, op.slot, "NOT_FOUND ");
}

void ModelDriver::DoTake(const Op& op) {
  const auto max = static_cast<size_t>(op.max_commands);
  std::vector<ModelUpdate> taken;
  for (const CommandUpdate& update : feeds_[static_cast<size_t>(op.feed)]->Take(max)) {
    ModelUpdate seen{.watch_id = update.watch_id, .last = update.last};
    if (!update.error.ok()) seen.error = OutcomeOf(update.error);
    if (update.command != nullptr) {
      const auto number = numbers_.find(update.command->spec->id);
      if (number == numbers_.end()) return model_.Disagree("an unknown command was told of");
      seen.command = number->second;
      seen.view = ViewOf(*update.command);
      int64_t& told = told_revisions_[{update.watch_id, seen.command}];
      if (update.command->revision <= told) model_.Disagree("a revision was told twice");
      told = update.command->revision;
    }
    taken.push_back(std::move(seen));
  }
  model_.Take(op.feed, max, taken);
}

void ModelDriver::DoDrain() {
  table_.Drain();
  model_.Drain();
  Settle();
}

void ModelDriver::DoOnNoLeases(const Op& op) {
  asked_for_no_leases_ = !op.peek;
  told_of_no_leases_ = false;
  table_.OnNoLeases(op.peek ? std::function<void()>() : [this] {
    if (!asked_for_no_leases_ || told_of_no_leases_) model_.Disagree("told of no leases unasked");
    told_of_no_leases_ = true;
  });
  Settle();
}

void ModelDriver::Commit() {
  CommandJournal::Batch batch = journal_.Take();
  const absl::Status appended = storage_->Append(storage_->position(), batch.entries);
  if (!appended.ok()) model_.Disagree(std::string(appended.message()));
}

void ModelDriver::DoRestart() {
  if (!setup_.restarts) return;
  for (auto& [slot, call] : calls_) {
    if (failed() || call.handle == nullptr) continue;
    const bool abandoned = table_.Abandon(call.handle, now_);
    if (abandoned) call.abandoned = true;
    model_.Abandon(slot, now_, abandoned);
    call.handle = nullptr;
  }
  for (const auto& [slot, watch] : watches_) {
    table_.Unwatch(watch);
    model_.Unwatch(slot);
  }
  watches_.clear();
  for (int feed = 0; feed < kFeeds; ++feed) {
    if (!failed()) DoTake({.feed = feed, .max_commands = 1'000'000});
  }
  Settle();
  if (failed()) return;
  Commit();
  std::destroy_at(&table_);
  std::construct_at(&table_, setup_.clocks, setup_.limits, &journal_);
  const absl::Status restored = table_.Restore(*storage_, now_);
  if (!restored.ok()) return model_.Disagree(std::string(restored.message()));
  asked_for_no_leases_ = told_of_no_leases_ = false;
  armed_ = table_.NextDeadlineTime();
  table_.SetDeadlineListener([this](absl::Time time) { armed_ = std::min(armed_, time); });
  model_.Restart(now_);
  for (int command = 0; command < static_cast<int>(known_.size()); ++command) {
    CheckCommand(command);
  }
  Settle();
}

// Checks.

std::string ModelDriver::Read(int command) {
  const ModelCommand& known = model_.commands()[static_cast<size_t>(command)];
  return OutcomeOf(
      table_.Get(known.client(), known_[static_cast<size_t>(command)].id.ToString(), true)
          .status());
}

void ModelDriver::Settle() {
  model_.Settle(now_, TakeAnswers());
  Check();
}

void ModelDriver::Check() {
  if (failed()) return;
  for (const int command : model_.TakeChanged()) CheckCommand(command);
  if (++checks_ % 16 == 0) {
    for (int command = 0; command < static_cast<int>(known_.size()); ++command) {
      CheckCommand(command);
    }
  }
  CheckCounts();
}

void ModelDriver::CheckCommand(int command) {
  if (failed()) return;
  const ModelCommand& expected = model_.commands()[static_cast<size_t>(command)];
  Known& known = known_[static_cast<size_t>(command)];
  const std::string name = absl::StrCat("command #", command, " of slot ", known.slot);
  const auto answer = table_.Get(expected.client(), known.id.ToString(), /*peek=*/true);
  const std::string outcome = OutcomeOf(answer.status());
  if (outcome != model_.OutcomeOfReading(command)) {
    return model_.Disagree(absl::StrCat(name, " answers ", OutcomeOf(answer.status()),
                                        " instead of ", model_.OutcomeOfReading(command)));
  }
  const std::string stranger = expected.client() == "ann" ? "bob" : "ann";
  if (OutcomeOf(table_.Get(stranger, known.id.ToString(), true).status()) !=
      "NOT_FOUND unknown_command") {
    return model_.Disagree(absl::StrCat(name, " is known to ", stranger));
  }
  if (!answer.ok()) {
    if (outcome == "NOT_FOUND command_removed" &&
        !absl::StrContains(answer.status().message(), CommandStateName(expected.view.state))) {
      model_.Disagree(absl::StrCat(name, " was removed as ", CommandStateName(expected.view.state),
                                   ", but answers ", OutcomeOf(answer.status())));
    }
    return;
  }
  const CommandView view = ViewOf(**answer);
  model_.CheckView(command, view, (*answer)->revision);
  if (known.read) {
    const bool changed = !DifferenceOf(known.view, view).empty();
    if (IsTerminal(known.view.state) && view.state != known.view.state &&
        !(known.view.state == CommandState::kCompleted && view.state == CommandState::kExpired &&
          view.error_code == "result_expired")) {
      model_.Disagree(absl::StrCat(name, " left its end"));
    }
    if ((*answer)->revision < known.revision ||
        (changed && (*answer)->revision == known.revision)) {
      model_.Disagree(absl::StrCat(name, " changed and kept its revision"));
    }
    if (!changed && (*answer)->revision != known.revision) {
      model_.Disagree(absl::StrCat(name, " has a new revision and did not change"));
    }
  }
  if (!expected.request.idempotent) {
    const auto received = absl::c_count_if(
        expected.deliveries, [](const ModelDelivery& delivery) { return !delivery.given_back; });
    if (received > 1) model_.Disagree(absl::StrCat(name, " was delivered twice"));
  }
  known.view = view;
  known.revision = (*answer)->revision;
  known.read = true;
}

void ModelDriver::CheckCounts() {
  if (failed()) return;
  const auto compare = [&](const char* what, int64_t actual, int64_t expected) {
    if (actual != expected) {
      model_.Disagree(absl::StrCat(what, " is ", actual, " instead of ", expected));
    }
  };
  compare("commands()", table_.commands(), model_.CountCommands(nullptr));
  compare("payload_bytes()", table_.payload_bytes(), model_.CountBytes(nullptr));
  compare("leased()", table_.leased(), model_.leased());
  compare("waits()", table_.waits(), model_.waits());
  compare("late_results()", table_.late_results(), model_.late_results());
  if (asked_for_no_leases_ && told_of_no_leases_ != (model_.leased() == 0)) {
    model_.Disagree(told_of_no_leases_ ? "told of no leases while there are some"
                                       : "not told that no leases are left");
  }
  if (told_of_no_leases_) asked_for_no_leases_ = false;
  for (size_t i = 0; i < feeds_.size(); ++i) {
    compare("OnReady()", feeds_[i]->ready_calls(), model_.feeds()[i].ready_calls);
  }
  if (std::min(armed_, table_.NextDeadlineTime()) > model_.NextDeadline()) {
    model_.Disagree("NextDeadlineTime() is after the next deadline");
  }
  if (armed_ > model_.NextDeadline()) {
    model_.Disagree("the deadline listener was not told of the next deadline");
  }
}

// A schedule.

void ModelDriver::Apply(const Op& op) {
  if (failed()) return;
  MoveTo(now_ + absl::Milliseconds(op.advance_ms));
  MoveToFreeTime(op.within_ms);
  if (failed()) return;
  Do(op);
  FireWhatIsDue();
  // Now and then, so that some changes of a command come together.
  if (setup_.restarts && !failed() && op.slot % 3 == 0) Commit();
}

void ModelDriver::Do(const Op& op) {
  switch (op.kind) {
    case OpKind::kRegister:
      return DoRegister(op);
    case OpKind::kRepeat:
      return DoRepeat(op);
    case OpKind::kReplay:
      return DoReplay(op);
    case OpKind::kGet:
      return DoGet(op);
    case OpKind::kList:
      return DoList(op);
    case OpKind::kCancel:
      return DoCancel(op);
    case OpKind::kExpire:
      return DoExpire(op);
    case OpKind::kLease:
      return DoLease(op);
    case OpKind::kAbandon:
      return DoAbandon(op);
    case OpKind::kGiveBack:
      return DoGiveBack(op);
    case OpKind::kAcknowledge:
      return DoAcknowledge(op);
    case OpKind::kComplete:
      return DoComplete(op);
    case OpKind::kWatch:
      return DoWatch(op);
    case OpKind::kWatchAll:
      return DoWatchAll(op);
    case OpKind::kUnwatch:
      return DoUnwatch(op);
    case OpKind::kFailWatch:
      return DoFailWatch(op);
    case OpKind::kTake:
      return DoTake(op);
    case OpKind::kWait:
      return;
    case OpKind::kNextDeadline:
      if (model_.NextDeadline() < absl::InfiniteFuture()) MoveTo(model_.NextDeadline());
      return;
    case OpKind::kJump:
      return DoJump();
    case OpKind::kDrain:
      return DoDrain();
    case OpKind::kOnNoLeases:
      return DoOnNoLeases(op);
    case OpKind::kRestart:
      return DoRestart();
  }
}

void ModelDriver::Finish() {
  // What has no end of its own.
  for (auto& [slot, call] : calls_) {
    if (failed() || call.handle == nullptr || slot % 2 == 0) continue;
    const bool abandoned = table_.Abandon(call.handle, now_);
    if (abandoned) call.abandoned = true;
    model_.Abandon(slot, now_, abandoned);
  }
  for (const auto& [slot, watch] : watches_) {
    if (failed()) return;
    if (slot % 2 == 0 && watch.filter == nullptr) continue;
    table_.Unwatch(watch);
    model_.Unwatch(slot);
  }
  // Delays and clocks of up to a day each, then what is kept after the end.
  const absl::Time end = now_ + absl::Hours(49);
  while (!failed() && model_.NextDeadline() < end) MoveTo(model_.NextDeadline());
  for (auto& [slot, call] : calls_) {
    if (failed() || call.handle == nullptr) continue;
    const bool abandoned = table_.Abandon(call.handle, now_);
    if (abandoned) call.abandoned = true;
    model_.Abandon(slot, now_, abandoned);
  }
  MoveTo(end);
  if (failed()) return;
  Settle();
  if (table_.commands() != 0 || table_.payload_bytes() != 0 || table_.leased() != 0 ||
      table_.waits() != 0) {
    model_.Disagree(absl::StrCat("in the end ", table_.commands(), " commands, ",
                                 table_.payload_bytes(), " bytes, ", table_.leased(),
                                 " leases and ", table_.waits(), " waits are left"));
  }
  table_.FireDeadlines(end);
  if (table_.NextDeadlineTime() != absl::InfiniteFuture()) {
    model_.Disagree("in the end a deadline is left");
  }
  for (const ModelCommand& command : model_.commands()) {
    if (!command.ended()) model_.Disagree(absl::StrCat("#", command.number, " never ended"));
  }
  for (int feed = 0; feed < kFeeds; ++feed) {
    if (!failed()) DoTake({.feed = feed, .max_commands = 1'000'000});
  }
}

std::string RunSchedule(const Schedule& schedule, ModelMistake mistake) {
  ModelDriver driver(schedule.setup, mistake);
  for (const Op& op : schedule.ops) driver.Apply(op);
  driver.Finish();
  return driver.disagreement();
}

}  // namespace callslip::tracker
