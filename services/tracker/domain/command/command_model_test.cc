// Random schedules of calls against CommandTable, each compared with CommandModel call by call.
//
// A schedule is a list of operations that are values: what an operation is about is named by the
// slot of the operation that made it, and an operation whose referent does not exist does nothing.
// Any part of a schedule is therefore a schedule, and one that fails can be shortened.
//
//   CALLSLIP_MODEL_SEED=n        runs this one schedule and prints it
//   CALLSLIP_MODEL_SCHEDULES=n   runs so many schedules in each group

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error_details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/command/command_model.h"
#include "tracker/domain/command/command_table.h"

namespace callslip::tracker {
namespace {

constexpr int kFeeds = 3;
constexpr int kMadeUp = -2;  // In place of a slot: an id that nobody registered.
constexpr std::array<const char*, 3> kClients = {"local", "ann", "bob"};
constexpr std::array<const char*, 3> kTargets = {"browser", "printer", "scanner"};
constexpr std::array<const char*, 3> kWorkers = {"default", "w1", "w2"};
constexpr std::array<const char*, 3> kKeys = {"", "tab-1", "tab-2"};
constexpr std::array<const char*, 3> kLabels = {"", "red", "blue"};

// Every clock is a multiple of this, and no two operations come at the same time modulo it: two
// deadlines come in the same millisecond only where they follow from the same operation.
constexpr int64_t kTimeGridMs = 500;

int IndexOf(const std::array<const char*, 3>& names, const std::string& name) {
  return static_cast<int>(absl::c_find(names, name) - names.begin());
}

// What a schedule is run on.
struct Setup {
  CommandDeadlines clocks;
  bool short_clocks = false;
  CommandLimits limits;
  // Fires whenever the table asks for it, not only when something is due.
  bool fires_early = false;
};

enum class OpKind {
  kRegister,
  kRepeat,
  kReplay,
  kGet,
  kList,
  kCancel,
  kExpire,
  kLease,
  kAbandon,
  kGiveBack,
  kAcknowledge,
  kComplete,
  kWatch,
  kWatchAll,
  kUnwatch,
  kFailWatch,
  kTake,
  kWait,
  kNextDeadline,
  kJump,
  kDrain,
  kOnNoLeases,
};
constexpr int kOpKinds = 22;

constexpr std::array<const char*, kOpKinds> kOpNames = {
    "Register",     "Repeat",   "Replay",  "Get",       "List",        "Cancel",
    "Expire",       "Lease",    "Abandon", "GiveBack",  "Acknowledge", "Complete",
    "Watch",        "WatchAll", "Unwatch", "FailWatch", "Take",        "Wait",
    "NextDeadline", "Jump",     "Drain",   "OnNoLeases"};

enum class Proof { kNewest, kOfDelivery, kOtherCommand, kForged, kWrongAttempt, kNone };
enum class Outcome { kResult, kHugeResult, kError, kTimeout };

// One call of the table, or one step of time. Which members matter depends on `kind`.
struct Op {
  OpKind kind = OpKind::kWait;
  int slot = 0;
  int64_t advance_ms = 0;  // Before the call.
  bool within_ms = false;  // The call does not come at a whole millisecond.
  int of = -1;             // Slot of what it is about.
  int client = 0;
  int target = 0;
  int worker = 0;
  int feed = 0;
  bool blank = false;  // Says "" for the default name.

  // kRegister, kRepeat, kReplay.
  bool human = false;
  bool idempotent = false;
  int priority = 0;
  int key = 0;
  int label = 0;
  int params_bytes = 0;
  int request_id = 0;  // 0: none.
  int clocks = 0;      // See OverridesOf().
  int64_t not_before_ms = 0;
  int flaw = 0;  // See RequestOf(). Of kRepeat: what differs; of kLease: which name is too long.

  // kGet.
  bool peek = false;

  // kLease; kWatch, kWatchAll.
  int max_commands = 0;
  int window = 0;
  int64_t hold_ms = 0;         // -1: without end.
  int64_t after_revision = 0;  // Relative to the present one.
  bool only_end = false;

  // kWatchAll, kList.
  int states = 0;  // A bit for each.
  bool filter_target = false;
  int filter_label = 0;
  int page_size = 0;

  // kAcknowledge, kComplete, kGiveBack.
  Proof proof = Proof::kNewest;
  int delivery = 0;
  bool with_attempt = false;
  Outcome outcome = Outcome::kResult;
  int bytes = 0;
  int context_bytes = 0;
  bool progress = false;
};

std::string ToString(const Op& op) {
  std::string text =
      absl::StrCat("  [", op.slot, "] +", op.advance_ms, op.within_ms ? " ms within  " : " ms  ",
                   kOpNames[static_cast<size_t>(op.kind)]);
  const auto add = [&](auto&&... part) { absl::StrAppend(&text, " ", part...); };
  if (op.of == kMadeUp) add("of a made-up id");
  if (op.of >= 0) add("of [", op.of, "]");
  switch (op.kind) {
    case OpKind::kRegister:
      add(kClients[static_cast<size_t>(op.client)], " → ",
          kTargets[static_cast<size_t>(op.target)]);
      if (op.human) add("human");
      if (op.idempotent) add("idempotent");
      if (op.priority != 0) add("priority ", op.priority);
      if (op.key != 0) add("key ", kKeys[static_cast<size_t>(op.key)]);
      if (op.label != 0) add("label ", kLabels[static_cast<size_t>(op.label)]);
      if (op.params_bytes != 0) add(op.params_bytes, " bytes");
      if (op.request_id != 0) add("request_id ", op.request_id);
      if (op.clocks != 0) add("clocks ", op.clocks);
      if (op.not_before_ms != 0) add("not before +", op.not_before_ms, " ms");
      if (op.flaw != 0) add("flaw ", op.flaw);
      break;
    case OpKind::kRepeat:
      add("variation ", op.flaw);
      break;
    case OpKind::kReplay:
      add("by ", kClients[static_cast<size_t>(op.client)]);
      if (op.request_id != 0) add("request_id ", op.request_id);
      break;
    case OpKind::kGet:
      if (op.peek) add("peek");
      [[fallthrough]];
    case OpKind::kCancel:
    case OpKind::kExpire:
      add("by ", kClients[static_cast<size_t>(op.client)]);
      break;
    case OpKind::kLease:
      add("by ", kWorkers[static_cast<size_t>(op.worker)], " of ",
          kTargets[static_cast<size_t>(op.target)], " max ", op.max_commands, " window ", op.window,
          " hold ", op.hold_ms, " ms");
      break;
    case OpKind::kGiveBack:
      add("delivery ", op.delivery);
      break;
    case OpKind::kAcknowledge:
    case OpKind::kComplete: {
      constexpr std::array<const char*, 6> kProofs = {
          "newest token", "token of delivery", "another command's token",
          "forged token", "wrong attempt",     "no token"};
      constexpr std::array<const char*, 4> kOutcomes = {"result", "huge result", "error",
                                                        "timeout"};
      add("with ", kProofs[static_cast<size_t>(op.proof)]);
      if (op.proof == Proof::kOfDelivery) add(op.delivery);
      if (op.with_attempt) add("and attempt");
      if (op.kind == OpKind::kComplete) {
        add(kOutcomes[static_cast<size_t>(op.outcome)], " of ", op.bytes, " bytes");
      } else if (op.progress) {
        add("progress");
      }
      if (op.context_bytes != 0) add("context of ", op.context_bytes, " bytes");
      break;
    }
    case OpKind::kWatch:
      add("by ", kClients[static_cast<size_t>(op.client)], " after revision ", op.after_revision);
      [[fallthrough]];
    case OpKind::kWatchAll:
      add("on feed ", op.feed);
      if (op.hold_ms > 0) add("for ", op.hold_ms, " ms");
      if (op.only_end) add("only end");
      if (op.kind == OpKind::kWatch) break;
      [[fallthrough]];
    case OpKind::kList:
      if (op.kind == OpKind::kList) add("page of ", op.page_size);
      add("of client ", kClients[static_cast<size_t>(op.client)]);
      if (op.states != 0) add("states ", op.states);
      if (op.filter_target) add("target ", kTargets[static_cast<size_t>(op.target)]);
      if (op.filter_label != 0) add("label ", kLabels[static_cast<size_t>(op.filter_label)]);
      break;
    case OpKind::kTake:
    case OpKind::kFailWatch:
      add("feed ", op.feed);
      if (op.kind == OpKind::kTake) add("max ", op.max_commands);
      break;
    default:
      break;
  }
  return text;
}

// The clocks that commands bring along: some sensible, then some out of bounds or badly nested.
constexpr int kGoodClocks = 10;
constexpr int kAllClocks = 18;

DeadlineOverrides OverridesOf(int preset) {
  using absl::Milliseconds;
  using absl::Minutes;
  using absl::Seconds;
  switch (preset) {
    case 1:
      return {.ack_wait = Milliseconds(500)};
    case 2:
      return {.start_to_close = Milliseconds(500)};
    case 3:
      return {.schedule_to_close = Milliseconds(44'500)};
    case 4:
      return {.result_retention = Seconds(1)};
    case 5:
      return {.schedule_to_start = Seconds(120), .heartbeat_timeout = Seconds(25)};
    case 6:
      return {.schedule_to_start = Milliseconds(6'500), .start_to_close = Seconds(60)};
    case 7:
      return {.heartbeat_timeout = Milliseconds(4'500), .result_retention = Minutes(9)};
    case 8:
      return {.start_to_close = kMaxStartToClose};
    case 9:
      return {.schedule_to_close = kMaxScheduleToClose};
    case 10:
      return {.ack_wait = Milliseconds(99)};
    case 11:
      return {.schedule_to_close = Seconds(3)};
    case 12:
      return {.result_retention = Minutes(10)};
    case 13:
      return {.ack_wait = Seconds(25)};
    case 14:
      return {.start_to_close = kMaxStartToClose + Milliseconds(500)};
    case 15:
      return {.schedule_to_close = kMaxScheduleToClose + Milliseconds(500)};
    case 16:
      return {.ack_wait = Seconds(8), .heartbeat_timeout = Seconds(8)};
    case 17:
      return {.schedule_to_start = Seconds(40), .schedule_to_close = Seconds(40)};
    default:
      return {};
  }
}

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

class CountingFeed final : public CommandFeed {
 public:
  void OnReady() override { ++ready_calls_; }
  int ready_calls() const { return ready_calls_; }

 private:
  int ready_calls_ = 0;
};

// Runs one schedule on a table and on the model.
class Runner {
 public:
  Runner(const Setup& setup, ModelMistake mistake);

  // Does nothing after the first disagreement.
  void Apply(const Op& op);
  // Lets everything end, and checks that nothing is left.
  void Finish();

  bool failed() const { return !model_.disagreement().empty(); }
  const std::string& disagreement() const { return model_.disagreement(); }
  const CommandModel& model() const { return model_; }
  absl::Time now() const { return now_; }

  // The slots that a generator can choose from.
  int SlotOf(int command) const { return known_[static_cast<size_t>(command)].slot; }
  const std::vector<int>& pages() const { return page_slots_; }

 private:
  struct Known {
    CommandId id;
    int slot = 0;
    std::vector<CommandLease> leases;
    int64_t revision = 0;
    CommandView view;
    bool read = false;  // `view` is set.
  };
  struct Call {
    std::shared_ptr<HeldCall> handle;
    int answers = 0;
    bool abandoned = false;
  };
  struct Page {
    std::string token;
    int last = -1;
    Op op;
  };

  // Moves on to `target`, and fires each deadline on the way when it comes.
  void MoveTo(absl::Time target);
  void FireAt(absl::Time time);
  // Fires what a call has made due at once.
  void FireWhatIsDue();
  // Moves on to the next time that no operation has had, see kTimeGridMs.
  void MoveToFreeTime(bool within_ms);

  void Do(const Op& op);
  void DoRegister(const Op& op);
  void DoRepeat(const Op& op);
  void DoReplay(const Op& op);
  void DoGet(const Op& op);
  void DoList(const Op& op);
  void DoCancel(const Op& op);
  void DoExpire(const Op& op);
  void DoLease(const Op& op);
  void DoAbandon(const Op& op);
  void DoGiveBack(const Op& op);
  void DoAcknowledge(const Op& op);
  void DoComplete(const Op& op);
  void DoWatch(const Op& op);
  void DoWatchAll(const Op& op);
  void DoUnwatch(const Op& op);
  void DoFailWatch(const Op& op);
  void DoTake(const Op& op);
  void DoJump();
  void DoDrain();
  void DoOnNoLeases(const Op& op);

  CommandRequest RequestOf(const Op& op) const;
  void RegisterRequest(int slot, const CommandRequest& request);
  std::optional<ObservedRegistration> Note(int slot,
                                           const absl::StatusOr<CommandRegistration>& answer);
  void CheckSpec(const CommandSpec& spec, const CommandRequest& request);

  // The command that `slot` made, or nullopt where the operation is to be skipped. -1: made up.
  std::optional<int> Find(int slot) const;
  std::string IdOf(int command, int slot) const;
  struct Quoted {
    LeaseProof proof;
    ModelProof model;
  };
  std::optional<Quoted> Quote(const Op& op, int command);
  std::string Client(const Op& op) const {
    return op.blank && op.client == 0 ? "" : kClients[static_cast<size_t>(op.client)];
  }
  std::string Target(const Op& op) const {
    return op.blank && op.target == 0 ? "" : kTargets[static_cast<size_t>(op.target)];
  }
  CommandFilter FilterOf(const Op& op) const;

  std::vector<ObservedAnswer> TakeAnswers();
  void Settle();
  // After each call: what changed, and from time to time everything.
  void Check();
  void CheckCommand(int command);
  void CheckCounts();
  std::string Read(int command);

  Setup setup_;
  CommandTable table_;
  CommandModel model_;
  absl::Time now_;
  std::set<int64_t> used_times_;
  absl::Time armed_ = absl::InfiniteFuture();
  int checks_ = 0;
  bool asked_for_no_leases_ = false;
  bool told_of_no_leases_ = false;

  std::vector<Known> known_;
  absl::flat_hash_map<CommandId, int> numbers_;
  std::map<int, int> commands_by_slot_;
  std::map<int, CommandRequest> requests_;
  std::map<int, Call> calls_;
  std::map<int, CommandTable::Watching> watches_;
  std::map<std::pair<int64_t, int>, int64_t> told_revisions_;
  std::map<int, Page> pages_;
  std::vector<int> page_slots_;
  std::vector<std::shared_ptr<CountingFeed>> feeds_;
  // Answers to workers since the last call of the table, in their order.
  std::vector<std::pair<int, WorkerNews>> news_;
};

Runner::Runner(const Setup& setup, ModelMistake mistake)
    : setup_(setup),
      table_(setup.clocks, setup.limits),
      model_(setup.clocks, setup.limits, kFeeds, mistake,
             [this](int command) { return Read(command); }),
      now_(absl::FromUnixSeconds(1'769'947'200)) {
  for (int i = 0; i < kFeeds; ++i) feeds_.push_back(std::make_shared<CountingFeed>());
  table_.SetDeadlineListener([this](absl::Time time) { armed_ = std::min(armed_, time); });
}

// Time.

void Runner::FireAt(absl::Time time) {
  now_ = std::max(now_, time);
  table_.FireDeadlines(now_);
  armed_ = table_.NextDeadlineTime();
  model_.Fire(now_);
  Settle();
}

void Runner::FireWhatIsDue() {
  for (int i = 0; i < 100 && !failed() && model_.NextDeadline() <= now_; ++i) FireAt(now_);
}

void Runner::MoveTo(absl::Time target) {
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

void Runner::MoveToFreeTime(bool within_ms) {
  if (used_times_.size() >= kTimeGridMs) used_times_.clear();
  int64_t time_ms = absl::ToUnixMillis(now_ + absl::Nanoseconds(999'999));
  while (!used_times_.insert(time_ms % kTimeGridMs).second) ++time_ms;
  // Its deadlines fire at the first whole millisecond after them, which is that of this time.
  const absl::Time time = absl::FromUnixMillis(time_ms);
  MoveTo(within_ms ? std::max(now_, time - absl::Microseconds(400)) : time);
}

void Runner::DoJump() {
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

std::optional<int> Runner::Find(int slot) const {
  if (slot == kMadeUp) return -1;
  const auto found = commands_by_slot_.find(slot);
  if (found == commands_by_slot_.end()) return std::nullopt;
  return found->second;
}

std::string Runner::IdOf(int command, int slot) const {
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

CommandFilter Runner::FilterOf(const Op& op) const {
  CommandFilter filter;
  for (int i = 0; i < kCommandStateCount; ++i) {
    if ((op.states >> i & 1) != 0) filter.states.push_back(static_cast<CommandState>(i));
  }
  if (op.filter_target) filter.target = kTargets[static_cast<size_t>(op.target)];
  filter.label = kLabels[static_cast<size_t>(op.filter_label)];
  return filter;
}

std::optional<Runner::Quoted> Runner::Quote(const Op& op, int command) {
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

CommandRequest Runner::RequestOf(const Op& op) const {
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

void Runner::DoRegister(const Op& op) { RegisterRequest(op.slot, RequestOf(op)); }

void Runner::DoRepeat(const Op& op) {
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

void Runner::RegisterRequest(int slot, const CommandRequest& request) {
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

void Runner::CheckSpec(const CommandSpec& spec, const CommandRequest& request) {
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

void Runner::DoReplay(const Op& op) {
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

std::optional<ObservedRegistration> Runner::Note(
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

void Runner::DoGet(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const auto answer = table_.Get(Client(op), IdOf(*command, op.slot), op.peek);
  model_.Get(kClients[static_cast<size_t>(op.client)], *command, op.peek, answer.status());
  if (answer.ok() && !failed()) {
    model_.CheckView(*command, ViewOf(**answer), (*answer)->revision);
  }
  Settle();
}

void Runner::DoList(const Op& op) {
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

void Runner::DoCancel(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value()) return;
  const auto answer = table_.Cancel(Client(op), IdOf(*command, op.slot), now_);
  model_.Cancel(kClients[static_cast<size_t>(op.client)], *command, now_, answer.status());
  if (answer.ok() && !failed()) {
    model_.CheckView(*command, ViewOf(**answer), (*answer)->revision);
  }
  Settle();
}

void Runner::DoExpire(const Op& op) {
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

void Runner::DoLease(const Op& op) {
  const absl::Time until =
      op.hold_ms < 0 ? absl::InfiniteFuture() : now_ + absl::Milliseconds(op.hold_ms);
  LeaseRequest request{
      .target = Target(op),
      .worker_id = op.blank && op.worker == 0 ? "" : kWorkers[static_cast<size_t>(op.worker)],
      .max_commands = op.max_commands,
      .window = op.window,
      .hold_until = until};
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
                       .hold_until = until};
  model_.Lease(held, now_, answer.status(), answer.ok() && *answer != nullptr, TakeAnswers());
  Check();
}

std::vector<ObservedAnswer> Runner::TakeAnswers() {
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
    for (const CommandId& id : news.ended) {
      const auto number = numbers_.find(id);
      answer.ended.push_back(number == numbers_.end() ? -1 : number->second);
    }
  }
  return answers;
}

void Runner::DoAbandon(const Op& op) {
  const auto call = calls_.find(op.of);
  if (call == calls_.end() || call->second.handle == nullptr) return;
  const bool abandoned = table_.Abandon(call->second.handle);
  if (abandoned) call->second.abandoned = true;
  model_.Abandon(op.of, abandoned);
  Settle();
}

void Runner::DoGiveBack(const Op& op) {
  const std::optional<int> command = Find(op.of);
  if (!command.has_value() || *command < 0) return;
  const Known& known = known_[static_cast<size_t>(*command)];
  if (op.delivery < 0 || op.delivery >= static_cast<int>(known.leases.size())) return;
  const CommandLease lease = known.leases[static_cast<size_t>(op.delivery)];
  table_.GiveBack(lease, now_);
  model_.GiveBack(*command, op.delivery);
  Settle();
}

void Runner::DoAcknowledge(const Op& op) {
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

void Runner::DoComplete(const Op& op) {
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

void Runner::DoWatch(const Op& op) {
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

void Runner::DoWatchAll(const Op& op) {
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

void Runner::DoUnwatch(const Op& op) {
  const auto watch = watches_.find(op.of);
  if (watch == watches_.end()) return;
  table_.Unwatch(watch->second);
  model_.Unwatch(op.of);
  Settle();
}

void Runner::DoFailWatch(const Op& op) {
  feeds_[static_cast<size_t>(op.feed)]->Fail(op.slot, absl::NotFoundError("gone"));
  model_.FailWatch(op.feed, op.slot, "NOT_FOUND ");
}

void Runner::DoTake(const Op& op) {
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

void Runner::DoDrain() {
  table_.Drain();
  model_.Drain();
  Settle();
}

void Runner::DoOnNoLeases(const Op& op) {
  asked_for_no_leases_ = !op.peek;
  told_of_no_leases_ = false;
  table_.OnNoLeases(op.peek ? std::function<void()>() : [this] {
    if (!asked_for_no_leases_ || told_of_no_leases_) model_.Disagree("told of no leases unasked");
    told_of_no_leases_ = true;
  });
  Settle();
}

// Checks.

std::string Runner::Read(int command) {
  const ModelCommand& known = model_.commands()[static_cast<size_t>(command)];
  return OutcomeOf(
      table_.Get(known.client(), known_[static_cast<size_t>(command)].id.ToString(), true)
          .status());
}

void Runner::Settle() {
  model_.Settle(now_, TakeAnswers());
  Check();
}

void Runner::Check() {
  if (failed()) return;
  for (const int command : model_.TakeChanged()) CheckCommand(command);
  if (++checks_ % 16 == 0) {
    for (int command = 0; command < static_cast<int>(known_.size()); ++command) {
      CheckCommand(command);
    }
  }
  CheckCounts();
}

void Runner::CheckCommand(int command) {
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

void Runner::CheckCounts() {
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

void Runner::Apply(const Op& op) {
  if (failed()) return;
  MoveTo(now_ + absl::Milliseconds(op.advance_ms));
  MoveToFreeTime(op.within_ms);
  if (failed()) return;
  Do(op);
  FireWhatIsDue();
}

void Runner::Do(const Op& op) {
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
  }
}

void Runner::Finish() {
  // What has no end of its own.
  for (auto& [slot, call] : calls_) {
    if (failed() || call.handle == nullptr || slot % 2 == 0) continue;
    const bool abandoned = table_.Abandon(call.handle);
    if (abandoned) call.abandoned = true;
    model_.Abandon(slot, abandoned);
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
    const bool abandoned = table_.Abandon(call.handle);
    if (abandoned) call.abandoned = true;
    model_.Abandon(slot, abandoned);
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

// Draws schedules. It sees the model, so that most operations are about something that exists.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    for (int& weight : weights_) weight = kScale[Below(kScale.size())];
  }

  Setup DrawSetup();
  Op Draw(int slot, const Runner& runner);

 private:
  // How much more often than usual a schedule has an operation: schedules with their own habits
  // reach what an average one does not.
  static constexpr std::array<int, 5> kScale = {0, 1, 2, 2, 6};

  size_t Below(size_t bound) { return static_cast<size_t>(random_() % bound); }
  int Index(int bound) { return static_cast<int>(Below(static_cast<size_t>(bound))); }
  bool OneIn(size_t times) { return Below(times) == 0; }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return *(values.begin() + Below(values.size()));
  }

  OpKind DrawKind(const Runner& runner);
  // A command, rather one that has not ended, or nothing.
  const ModelCommand* DrawCommand(const Runner& runner, bool delivered);
  void DrawRegistration(Op& op);
  void DrawReport(Op& op, const Runner& runner);
  void DrawLease(Op& op, const Runner& runner);

  std::mt19937_64 random_;
  std::array<int, kOpKinds> weights_;
  // How many different ones a schedule has.
  int clients_ = 1 + Index(3);
  int targets_ = 1 + Index(3);
  int workers_ = 1 + Index(3);
  bool drains_ = false;
};

Setup Generator::DrawSetup() {
  Setup setup;
  setup.fires_early = OneIn(2);
  drains_ = OneIn(8);
  setup.short_clocks = OneIn(3);
  if (setup.short_clocks) {
    setup.clocks.schedule_to_start = absl::Seconds(6);
    setup.clocks.ack_wait = absl::Milliseconds(3'500);
    setup.clocks.heartbeat_timeout = absl::Milliseconds(4'500);
    setup.clocks.start_to_close = absl::Milliseconds(6'500);
    setup.clocks.human_schedule_to_close = absl::Seconds(56);
    setup.clocks.result_retention = absl::Seconds(56);
    setup.clocks.failed_retention = absl::Seconds(70);
    setup.clocks.tombstone_retention = absl::Seconds(60);
  }
  EXPECT_TRUE(setup.clocks.Validate().ok());
  CommandLimits& limits = setup.limits;
  if (OneIn(2)) limits.queued_of_client = Of<int64_t>({2, 5});
  if (OneIn(2)) limits.queued = Of<int64_t>({4, 8});
  if (OneIn(2)) limits.failed_of_client = Of<size_t>({1, 3, 6});
  if (OneIn(3)) limits.commands = Of<int64_t>({10, 20});
  if (OneIn(3)) limits.commands_of_client = Of<int64_t>({6, 12});
  if (OneIn(3)) limits.payload_bytes = Of<int64_t>({500, 1500});
  if (OneIn(3)) limits.payload_bytes_of_client = Of<int64_t>({300, 900});
  if (OneIn(3)) limits.waits = Of<int64_t>({3, 8});
  if (OneIn(3)) limits.waits_of_client = Of<int64_t>({2, 5});
  if (OneIn(3)) limits.filters_of_client = Of<int64_t>({1, 2});
  if (OneIn(2)) limits.tombstones = Of<size_t>({1, 3});
  return setup;
}

OpKind Generator::DrawKind(const Runner& runner) {
  constexpr std::array<int, kOpKinds> kWeights = {
      /*Register*/ 22, 4,  4, /*Get*/ 6, 3,  4, 3,
      /*Lease*/ 18,    2,  4, 12,        12,
      /*Watch*/ 5,     2,  2, 1,         8,
      /*Wait*/ 6,      10, 3, 1};
  std::array<int, kOpKinds> weights = kWeights;
  int sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const bool vital = i == static_cast<size_t>(OpKind::kRegister);
    weights[i] *= vital ? std::max(weights_[i], 1) : weights_[i];
    if (i == static_cast<size_t>(OpKind::kDrain)) {
      weights[i] = drains_ && !runner.model().draining() ? 2 : 0;
    }
    sum += weights[i];
  }
  int drawn = Index(sum);
  for (size_t i = 0; i < weights.size(); ++i) {
    drawn -= weights[i];
    if (drawn < 0) return static_cast<OpKind>(i);
  }
  return OpKind::kWait;
}

const ModelCommand* Generator::DrawCommand(const Runner& runner, bool delivered) {
  const std::vector<ModelCommand>& commands = runner.model().commands();
  if (commands.empty()) return nullptr;
  // What was delivered twice is rare, and where it gets difficult.
  if (delivered && OneIn(2)) {
    for (const ModelCommand& command : commands) {
      if (!command.removed && !command.ended() && command.deliveries.size() > 1) return &command;
    }
  }
  const ModelCommand* drawn = nullptr;
  for (int tries = 0; tries < 12; ++tries) {
    drawn = &commands[Below(commands.size())];
    if (drawn->removed && !OneIn(10)) continue;
    if (drawn->ended() && !OneIn(3)) continue;
    if (delivered && drawn->deliveries.empty() && !(drawn->human() && OneIn(2))) continue;
    break;
  }
  return drawn;
}

void Generator::DrawRegistration(Op& op) {
  op.client = Index(clients_);
  op.target = Index(targets_);
  op.human = OneIn(10);
  op.idempotent = OneIn(2);
  op.priority = OneIn(3) ? Of({-100, -1, 1, 1, 50, 100}) : 0;
  op.key = OneIn(3) ? Index(3) : 0;
  op.label = Index(3);
  op.params_bytes = Of({0, 0, 20, 100, 200});
  op.request_id = OneIn(3) ? op.slot : 0;
  if (OneIn(4)) op.clocks = Index(OneIn(4) ? kAllClocks : kGoodClocks);
  if (OneIn(6)) op.not_before_ms = Of<int64_t>({-2000, 500, 2000, 5000, 40'000, 3'600'000});
  if (OneIn(40)) op.flaw = 1 + Index(6);
}

void Generator::DrawReport(Op& op, const Runner& runner) {
  const ModelCommand* command = DrawCommand(runner, true);
  if (command == nullptr || OneIn(50)) {
    op.of = kMadeUp;
    return;
  }
  op.of = runner.SlotOf(command->number);
  op.delivery =
      command->deliveries.empty() ? 0 : Index(static_cast<int>(command->deliveries.size()));
  op.proof = Of({Proof::kNewest, Proof::kNewest, Proof::kNewest, Proof::kNewest, Proof::kOfDelivery,
                 Proof::kOfDelivery, Proof::kNone});
  if (OneIn(12)) op.proof = Of({Proof::kOtherCommand, Proof::kForged, Proof::kWrongAttempt});
  if (command->deliveries.empty() && !OneIn(4)) op.proof = Proof::kNone;
  op.with_attempt = OneIn(2);
  op.context_bytes = OneIn(4) ? Of({10, 40}) : 0;
  if (OneIn(100)) op.context_bytes = static_cast<int>(kMaxContextBytes) + 1;
  op.progress = OneIn(3);
  op.outcome = Of({Outcome::kResult, Outcome::kResult, Outcome::kResult, Outcome::kResult,
                   Outcome::kError, Outcome::kTimeout});
  if (OneIn(100)) op.outcome = Outcome::kHugeResult;
  op.bytes = Of({0, 10, 50, 200, 400});
}

void Generator::DrawLease(Op& op, const Runner& runner) {
  op.target = Index(targets_);
  op.worker = Index(workers_);
  // Rather where something waits.
  const std::vector<ModelCommand>& commands = runner.model().commands();
  for (int tries = 0; tries < 4 && !commands.empty(); ++tries) {
    const ModelCommand& command = commands[Below(commands.size())];
    if (command.queued() && command.released) op.target = IndexOf(kTargets, command.target());
  }
  op.max_commands = Of({0, 0, 1, 2, 5});
  op.window = Of({0, 0, 0, 1, 3, 5});
  op.hold_ms = Of<int64_t>({0, 0, 500, 3000, 8000, 30'000, -1});
  if (OneIn(80)) op.max_commands = Of({6, -1});
  if (OneIn(80)) op.window = Of({6, -1});
  if (OneIn(80)) op.flaw = 1 + Index(2);
}

Op Generator::Draw(int slot, const Runner& runner) {
  Op op{.kind = DrawKind(runner), .slot = slot};
  const CommandModel& model = runner.model();
  op.blank = OneIn(4);
  op.within_ms = OneIn(4);
  op.advance_ms = Of<int64_t>({0, 0, 1, 1, 3, 10, 40, 200});
  op.client = Index(clients_);
  op.feed = Index(kFeeds);
  const auto about = [&](bool delivered) {
    const ModelCommand* command = DrawCommand(runner, delivered);
    if (command == nullptr || OneIn(50)) {
      op.of = kMadeUp;
      return;
    }
    op.of = runner.SlotOf(command->number);
    op.delivery = static_cast<int>(command->deliveries.size()) - 1;
    if (op.delivery > 0 && OneIn(4)) --op.delivery;
    if (!OneIn(20)) {
      op.client = IndexOf(kClients, command->client());
    }
  };
  switch (op.kind) {
    case OpKind::kRegister:
      DrawRegistration(op);
      break;
    case OpKind::kRepeat:
      about(false);
      op.flaw = OneIn(2) ? Of({0, 1, 6}) : Index(9);
      break;
    case OpKind::kReplay:
      about(false);
      for (const ModelCommand& command : model.commands()) {
        if (command.removed || !command.ended() || !OneIn(3)) continue;
        op.of = runner.SlotOf(command.number);
        op.client = IndexOf(kClients, command.client());
      }
      op.request_id = OneIn(2) ? 1 + Index(4) : 0;
      break;
    case OpKind::kGet:
      about(false);
      op.peek = OneIn(3);
      break;
    case OpKind::kGiveBack:
      about(true);
      break;
    case OpKind::kCancel:
    case OpKind::kExpire:
      about(false);
      break;
    case OpKind::kList:
      op.page_size = Of({0, 1, 2, 3, 7, 5000});
      op.states = OneIn(2) ? 0 : 1 + Index(255);
      op.filter_target = OneIn(4);
      op.target = Index(targets_);
      op.filter_label = OneIn(4) ? Index(3) : 0;
      if (!runner.pages().empty() && OneIn(2)) {
        op.of = runner.pages()[Below(runner.pages().size())];
      } else if (OneIn(20)) {
        op.of = kMadeUp;
      }
      break;
    case OpKind::kLease:
      DrawLease(op, runner);
      break;
    case OpKind::kAbandon:
      op.of = Index(slot + 1);
      if (!model.calls().empty()) op.of = model.calls()[Below(model.calls().size())].slot;
      break;
    case OpKind::kAcknowledge:
    case OpKind::kComplete:
      DrawReport(op, runner);
      break;
    case OpKind::kWatch:
      about(false);
      op.after_revision = Of<int64_t>({-1000, -1, 0, 0, 5});
      op.only_end = OneIn(4);
      op.hold_ms = Of<int64_t>({0, 0, 2000, 20'000});
      break;
    case OpKind::kWatchAll:
      op.states = OneIn(2) ? 0 : 1 + Index(255);
      op.filter_target = OneIn(4);
      op.target = Index(targets_);
      op.filter_label = OneIn(4) ? Index(3) : 0;
      op.only_end = OneIn(5);
      break;
    case OpKind::kUnwatch:
      op.of = Index(slot + 1);
      if (!model.watches().empty()) {
        op.of = static_cast<int>(model.watches()[Below(model.watches().size())].watch_id);
      }
      break;
    case OpKind::kTake:
      op.max_commands = Of({1, 2, 5, 1000});
      break;
    case OpKind::kOnNoLeases:
      op.peek = OneIn(4);
      break;
    case OpKind::kWait:
      op.advance_ms = Of<int64_t>({100, 1000, 1000, 5000, 60'000, 600'000});
      break;
    default:
      break;
  }
  return op;
}

// Running, shortening and telling.

struct Schedule {
  Setup setup;
  std::vector<Op> ops;
};

constexpr int kOperations = 150;

// For a crash, which leaves no time to shorten anything.
volatile std::sig_atomic_t running_seed = 0;

extern "C" void PrintSeed(int signal) {
  std::fprintf(stderr, "crashed in the schedule of CALLSLIP_MODEL_SEED=%ld\n",
               static_cast<long>(running_seed));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Runs the schedule of a seed, and leaves in it the operations up to the first disagreement.
std::string RunSeed(uint64_t seed, ModelMistake mistake, Schedule& schedule,
                    std::map<std::string, int64_t>* reached) {
  running_seed = static_cast<std::sig_atomic_t>(seed);
  std::signal(SIGABRT, PrintSeed);
#ifndef __SANITIZE_ADDRESS__  // Which says more itself.
  std::signal(SIGSEGV, PrintSeed);
#endif
  Generator generator(seed);
  schedule.setup = generator.DrawSetup();
  schedule.ops.clear();
  Runner runner(schedule.setup, mistake);
  for (int slot = 0; slot < kOperations && !runner.failed(); ++slot) {
    schedule.ops.push_back(generator.Draw(slot, runner));
    runner.Apply(schedule.ops.back());
  }
  runner.Finish();
  if (reached != nullptr) {
    for (const auto& [what, count] : runner.model().reached()) (*reached)[what] += count;
  }
  return runner.disagreement();
}

std::string RunSchedule(const Schedule& schedule, ModelMistake mistake) {
  Runner runner(schedule.setup, mistake);
  for (const Op& op : schedule.ops) runner.Apply(op);
  runner.Finish();
  return runner.disagreement();
}

// What a disagreement is about, without the numbers and names of its schedule.
std::string KindOf(const std::string& disagreement) {
  std::string kind;
  bool quoted = false;
  for (const char letter : disagreement) {
    if (letter == '"') quoted = !quoted;
    if (!quoted && !absl::ascii_isdigit(static_cast<unsigned char>(letter))) kind += letter;
  }
  return kind;
}

// `schedule` without some of its operations, and with or without the time that these took.
Schedule Without(const Schedule& schedule, size_t begin, size_t end, bool keep_time) {
  Schedule rest{.setup = schedule.setup};
  int64_t time_ms = 0;
  for (size_t i = 0; i < schedule.ops.size(); ++i) {
    if (i >= begin && i < end) {
      time_ms += schedule.ops[i].advance_ms + 1;
    } else {
      rest.ops.push_back(schedule.ops[i]);
      if (i >= end && keep_time) rest.ops.back().advance_ms += std::exchange(time_ms, 0);
    }
  }
  return rest;
}

// `schedule` with plain waits in place of the steps to deadlines, which depend on all that waits.
Schedule WithPlainWaits(const Schedule& schedule, ModelMistake mistake) {
  Schedule plain = schedule;
  Runner runner(plain.setup, mistake);
  for (Op& op : plain.ops) {
    const absl::Time before = runner.now();
    runner.Apply(op);
    if (op.kind != OpKind::kNextDeadline && op.kind != OpKind::kJump) continue;
    op.kind = OpKind::kWait;
    op.advance_ms = absl::ToInt64Milliseconds(runner.now() - before);
  }
  return plain;
}

// Leaves out what is not needed for a disagreement: half of the operations, then smaller and
// smaller parts, until none can be spared (Zeller's delta debugging).
Schedule Shorten(Schedule schedule, ModelMistake mistake) {
  const std::string kind = KindOf(RunSchedule(schedule, mistake));
  const auto disagrees = [&](const Schedule& candidate) {
    const std::string disagreement = RunSchedule(candidate, mistake);
    // Not another fault of the table that is found on the way; or any that the mistake causes.
    if (mistake == ModelMistake::kNone) return KindOf(disagreement) == kind;
    return !disagreement.empty() && RunSchedule(candidate, ModelMistake::kNone).empty();
  };
  const Schedule plain = WithPlainWaits(schedule, mistake);
  if (disagrees(plain)) schedule = plain;
  // A small ring needs few commands to overflow.
  for (const size_t failed : {3, 2, 1}) {
    Schedule candidate = schedule;
    candidate.setup.limits.failed_of_client = failed;
    if (failed < schedule.setup.limits.failed_of_client && disagrees(candidate)) {
      schedule = std::move(candidate);
    }
  }
  size_t chunk = std::max<size_t>(schedule.ops.size() / 2, 1);
  while (true) {
    bool shorter = false;
    for (size_t begin = 0; begin < schedule.ops.size();) {
      const size_t end = std::min(begin + chunk, schedule.ops.size());
      // What matters may be the operations, or only the time that they took.
      const Schedule later = Without(schedule, begin, end, /*keep_time=*/true);
      const Schedule sooner = Without(schedule, begin, end, /*keep_time=*/false);
      const bool sooner_disagrees = disagrees(sooner);
      if (sooner_disagrees || disagrees(later)) {
        schedule = sooner_disagrees ? sooner : later;
        shorter = true;
      } else {
        begin = end;
      }
    }
    if (chunk == 1 && !shorter) break;
    chunk = std::max<size_t>(chunk / 2, 1);
  }
  // Plainer operations and fewer limits make it easier to read.
  const auto unlimited = [&](auto limit) {
    Schedule candidate = schedule;
    candidate.setup.limits.*limit = CommandLimits().*limit;
    if (disagrees(candidate)) schedule = std::move(candidate);
  };
  unlimited(&CommandLimits::queued_of_client);
  unlimited(&CommandLimits::queued);
  unlimited(&CommandLimits::failed_of_client);
  unlimited(&CommandLimits::commands);
  unlimited(&CommandLimits::commands_of_client);
  unlimited(&CommandLimits::payload_bytes);
  unlimited(&CommandLimits::payload_bytes_of_client);
  unlimited(&CommandLimits::waits);
  unlimited(&CommandLimits::waits_of_client);
  unlimited(&CommandLimits::filters_of_client);
  unlimited(&CommandLimits::tombstones);
  for (size_t i = 0; i < schedule.ops.size(); ++i) {
    const auto plainer = [&](auto change) {
      Schedule candidate = schedule;
      change(candidate.ops[i]);
      if (disagrees(candidate)) schedule = std::move(candidate);
    };
    plainer([](Op& op) { op.advance_ms = 0; });
    plainer([](Op& op) { op.within_ms = false; });
    plainer([](Op& op) { op.blank = false; });
    plainer([](Op& op) { op.label = 0; });
    plainer([](Op& op) { op.params_bytes = 0; });
    plainer([](Op& op) { op.request_id = 0; });
    plainer([](Op& op) { op.clocks = 0; });
    plainer([](Op& op) { op.priority = 0; });
    plainer([](Op& op) { op.key = 0; });
    plainer([](Op& op) { op.idempotent = false; });
    plainer([](Op& op) { op.with_attempt = false; });
    plainer([](Op& op) { op.context_bytes = 0; });
    plainer([](Op& op) { op.progress = false; });
  }
  return schedule;
}

std::string ToString(const Schedule& schedule) {
  const Setup& setup = schedule.setup;
  std::string text = absl::StrCat("  clocks: ", setup.short_clocks ? "short" : "default");
  const auto limit = [&](const char* name, auto member) {
    if (setup.limits.*member == CommandLimits().*member) return;
    absl::StrAppend(&text, "; ", name, " ", setup.limits.*member);
  };
  limit("queued_of_client", &CommandLimits::queued_of_client);
  limit("queued", &CommandLimits::queued);
  limit("failed_of_client", &CommandLimits::failed_of_client);
  limit("commands", &CommandLimits::commands);
  limit("commands_of_client", &CommandLimits::commands_of_client);
  limit("payload_bytes", &CommandLimits::payload_bytes);
  limit("payload_bytes_of_client", &CommandLimits::payload_bytes_of_client);
  limit("waits", &CommandLimits::waits);
  limit("waits_of_client", &CommandLimits::waits_of_client);
  limit("filters_of_client", &CommandLimits::filters_of_client);
  limit("tombstones", &CommandLimits::tombstones);
  absl::StrAppend(&text, setup.fires_early ? "; fires early\n" : "\n");
  for (const Op& op : schedule.ops) absl::StrAppend(&text, ToString(op), "\n");
  return text;
}

std::optional<uint64_t> FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  uint64_t value = 0;
  if (text == nullptr || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

// Reports the first disagreement of each kind.
class Reporter {
 public:
  void Run(uint64_t seed) {
    Schedule schedule;
    const std::string disagreement = RunSeed(seed, ModelMistake::kNone, schedule, &reached_);
    if (disagreement.empty() || !kinds_.insert(KindOf(disagreement)).second) return;
    const Schedule shortened = Shorten(schedule, ModelMistake::kNone);
    ADD_FAILURE() << "CALLSLIP_MODEL_SEED=" << seed << " disagrees: " << disagreement
                  << "\nshortened from " << schedule.ops.size() << " to " << shortened.ops.size()
                  << " operations: " << RunSchedule(shortened, ModelMistake::kNone) << "\n"
                  << ToString(shortened);
  }

  // More would only bury the first ones.
  bool has_enough() const { return kinds_.size() >= 8; }
  const std::map<std::string, int64_t>& reached() const { return reached_; }

 private:
  std::set<std::string> kinds_;
  std::map<std::string, int64_t> reached_;
};

// What every group of schedules has to reach: each answer, end, limit and turn of events.
constexpr std::array kToBeReached = {
    "answer ok",
    "answer ALREADY_EXISTS request_id_reused",
    "answer FAILED_PRECONDITION already_ended",
    "answer FAILED_PRECONDITION not_a_dead_letter",
    "answer INVALID_ARGUMENT invalid_argument",
    "answer INVALID_ARGUMENT result_too_large",
    "answer NOT_FOUND command_removed",
    "answer NOT_FOUND unknown_command",
    "answer PERMISSION_DENIED wrong_lease",
    "answer RESOURCE_EXHAUSTED queue_full",
    "answer RESOURCE_EXHAUSTED too_many_bytes",
    "answer RESOURCE_EXHAUSTED too_many_commands",
    "answer RESOURCE_EXHAUSTED too_many_waits",
    "answer UNAVAILABLE draining",
    "end cancelled by its client",
    "end completed by its worker",
    "end expired by its client",
    "end expired extension_no_response",
    "end expired never_delivered",
    "end expired result_expired",
    "end expired schedule_to_close",
    "end expired user_did_not_finish",
    "end failed by its worker",
    "end failed result_dropped",
    "end failed worker_lost",
    "end timed_out by its worker",
    "end timed_out execution_timeout",
    "event a held call is given work",
    "event a late result is kept",
    "event a lease is given back",
    "event a queued command is completed",
    "event a result of an earlier worker is accepted",
    "event a tombstone is forgotten in time",
    "event a worker is told of an end",
    "event an ended lease is acknowledged",
    "event redelivered",
    "event several deadlines at once",
    "limit commands",
    "limit commands_of_client",
    "limit failed_of_client",
    "limit failed_of_client, cancelled",
    "limit filters_of_client",
    "limit payload_bytes",
    "limit payload_bytes_of_client",
    "limit queued",
    "limit queued_of_client",
    "limit tombstones",
    "limit waits",
    "limit waits_of_client",
};

class CommandModelTest : public testing::TestWithParam<int> {};

TEST_P(CommandModelTest, TableDoesWhatTheContractSays) {
  if (const auto seed = FromEnvironment("CALLSLIP_MODEL_SEED")) {
    if (GetParam() != 0) GTEST_SKIP() << "one seed is run, in the first group";
    Schedule schedule;
    RunSeed(*seed, ModelMistake::kNone, schedule, nullptr);
    std::puts(ToString(schedule).c_str());
    Reporter().Run(*seed);
    return;
  }
  constexpr uint64_t kSchedules = 1000;
  const uint64_t schedules = FromEnvironment("CALLSLIP_MODEL_SCHEDULES").value_or(kSchedules);
  Reporter reporter;
  for (uint64_t i = 0; i < schedules && !reporter.has_enough(); ++i) {
    reporter.Run(static_cast<uint64_t>(GetParam()) * 1'000'000 + i);
  }
  for (const auto& [what, count] : reporter.reached()) {
    std::printf("%10ld  %s\n", static_cast<long>(count), what.c_str());
  }
  if (HasFailure() || schedules < kSchedules) return;
  for (const char* what : kToBeReached) {
    EXPECT_TRUE(reporter.reached().contains(what)) << what << " was never reached";
  }
}

INSTANTIATE_TEST_SUITE_P(Group, CommandModelTest, testing::Range(0, 6));

struct Mistake {
  const char* name;
  ModelMistake mistake;

  friend void PrintTo(const Mistake& tested, std::ostream* out) { *out << tested.name; }
};

class CommandModelMistakeTest : public testing::TestWithParam<Mistake> {};

// A model that is wrong in one point disagrees with the table, and the harness finds a schedule of
// a few operations that shows where.
TEST_P(CommandModelMistakeTest, IsFoundAndShortened) {
  Schedule schedule;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const std::string disagreement = RunSeed(seed, GetParam().mistake, schedule, nullptr);
    // Not one that the right model has, too.
    if (!disagreement.empty() && RunSchedule(schedule, ModelMistake::kNone).empty()) break;
    schedule.ops.clear();
  }
  ASSERT_FALSE(schedule.ops.empty()) << "no schedule shows the mistake";
  const Schedule shortened = Shorten(schedule, GetParam().mistake);
  std::printf("%s%s\n", ToString(shortened).c_str(),
              RunSchedule(shortened, GetParam().mistake).c_str());
  EXPECT_NE(RunSchedule(shortened, GetParam().mistake), "");
  EXPECT_EQ(RunSchedule(shortened, ModelMistake::kNone), "");
  EXPECT_LE(shortened.ops.size(), 8);
}

INSTANTIATE_TEST_SUITE_P(
    Of, CommandModelMistakeTest,
    testing::Values(Mistake{"OrderingKeys", ModelMistake::kIgnoresOrderingKeys},
                    Mistake{"Priorities", ModelMistake::kIgnoresPriorities},
                    Mistake{"Turns", ModelMistake::kIgnoresTurns},
                    Mistake{"Window", ModelMistake::kWindowOfSix},
                    Mistake{"Redelivery", ModelMistake::kNeverRedelivers},
                    Mistake{"RequestIds", ModelMistake::kForgetsRequestIds},
                    Mistake{"Peeking", ModelMistake::kPeeksCollect},
                    Mistake{"Tombstones", ModelMistake::kForgetsTombstones},
                    Mistake{"EndsForWorkers", ModelMistake::kTellsNoEndsToWorkers},
                    Mistake{"StateFilters", ModelMistake::kTellsWatchesOfOtherStates}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace callslip::tracker
