#include "model/command_model_generator.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <vector>

#include "absl/algorithm/container.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

constexpr int kOperations = 150;

// For a crash, after which nothing can be shortened.
volatile std::sig_atomic_t running_seed = 0;

extern "C" void PrintSeed(int signal) {
  std::fprintf(stderr, "crashed in the schedule of CALLSLIP_MODEL_SEED=%ld\n",
               static_cast<long>(running_seed));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int IndexOf(const std::array<const char*, 3>& names, const std::string& name) {
  return static_cast<int>(absl::c_find(names, name) - names.begin());
}

}  // namespace

Setup ScheduleGenerator::DrawSetup() {
  Setup setup;
  setup.fires_early = OneIn(2);
  drains_ = OneIn(8);
  setup.restarts = restarts_ = OneIn(3);
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

OpKind ScheduleGenerator::DrawKind(const ModelDriver& driver) {
  constexpr std::array<int, kOpKinds> kWeights = {/*Register*/ 22, 4,  4,
                                                  /*Get*/ 6,       3,  4, 3,
                                                  /*Lease*/ 18,    2,  4, 12, 12,
                                                  /*Watch*/ 5,     2,  2, 1,  8,
                                                  /*Wait*/ 6,      10, 3, 1,  0,
                                                  /*Restart*/ 3};
  std::array<int, kOpKinds> weights = kWeights;
  int sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const bool vital = i == static_cast<size_t>(OpKind::kRegister);
    weights[i] *= vital ? std::max(weights_[i], 1) : weights_[i];
    if (i == static_cast<size_t>(OpKind::kDrain)) {
      weights[i] = drains_ && !driver.model().draining() ? 2 : 0;
    }
    if (i == static_cast<size_t>(OpKind::kRestart)) weights[i] = restarts_ ? kWeights[i] : 0;
    sum += weights[i];
  }
  int drawn = Index(sum);
  for (size_t i = 0; i < weights.size(); ++i) {
    drawn -= weights[i];
    if (drawn < 0) return static_cast<OpKind>(i);
  }
  return OpKind::kWait;
}

const ModelCommand* ScheduleGenerator::DrawCommand(const ModelDriver& driver, bool delivered) {
  const std::vector<ModelCommand>& commands = driver.model().commands();
  if (commands.empty()) return nullptr;
  // Commands with two deliveries are rare, and the difficult ones.
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

void ScheduleGenerator::DrawRegistration(Op& op) {
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

void ScheduleGenerator::DrawReport(Op& op, const ModelDriver& driver) {
  const ModelCommand* command = DrawCommand(driver, true);
  if (command == nullptr || OneIn(50)) {
    op.of = kMadeUp;
    return;
  }
  op.of = driver.SlotOf(command->number);
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

void ScheduleGenerator::DrawLease(Op& op, const ModelDriver& driver) {
  op.target = Index(targets_);
  op.worker = Index(workers_);
  // Preferably a target with a waiting command.
  const std::vector<ModelCommand>& commands = driver.model().commands();
  for (int tries = 0; tries < 4 && !commands.empty(); ++tries) {
    const ModelCommand& command = commands[Below(commands.size())];
    if (command.queued() && command.released) op.target = IndexOf(kTargets, command.target());
  }
  op.max_commands = Of({0, 0, 1, 2, 5});
  op.window = Of({0, 0, 0, 1, 3, 5});
  op.hold_ms = Of<int64_t>({0, 0, 500, 3000, 8000, 30'000, -1});
  if (OneIn(3)) op.back_within_ms = Of<int64_t>({500, 8000, 45'000, 60'000});
  if (OneIn(80)) op.back_within_ms = Of<int64_t>({60'500, -500});
  if (OneIn(80)) op.max_commands = Of({6, -1});
  if (OneIn(80)) op.window = Of({6, -1});
  if (OneIn(80)) op.flaw = 1 + Index(2);
}

Op ScheduleGenerator::Draw(int slot, const ModelDriver& driver) {
  Op op{.kind = DrawKind(driver), .slot = slot};
  const CommandModel& model = driver.model();
  op.blank = OneIn(4);
  op.within_ms = OneIn(4);
  op.advance_ms = Of<int64_t>({0, 0, 1, 1, 3, 10, 40, 200});
  op.client = Index(clients_);
  op.feed = Index(kFeeds);
  const auto about = [&](bool delivered) {
    const ModelCommand* command = DrawCommand(driver, delivered);
    if (command == nullptr || OneIn(50)) {
      op.of = kMadeUp;
      return;
    }
    op.of = driver.SlotOf(command->number);
    op.delivery = static_cast<int>(command->deliveries.size()) - 1;
    if (op.delivery > 0 && OneIn(4)) --op.delivery;
    if (!OneIn(20)) {
      op.client = IndexOf(kClients, command->client());
    }
  };
  switch (op.kind) {
    case OpKind::kRegister: DrawRegistration(op); break;
    case OpKind::kRepeat:
      about(false);
      op.flaw = OneIn(2) ? Of({0, 1, 6}) : Index(9);
      break;
    case OpKind::kReplay:
      about(false);
      for (const ModelCommand& command : model.commands()) {
        if (command.removed || !command.ended() || !OneIn(3)) continue;
        op.of = driver.SlotOf(command.number);
        op.client = IndexOf(kClients, command.client());
      }
      op.request_id = OneIn(2) ? 1 + Index(4) : 0;
      break;
    case OpKind::kGet:
      about(false);
      op.peek = OneIn(3);
      break;
    case OpKind::kGiveBack: about(true); break;
    case OpKind::kCancel:
    case OpKind::kExpire: about(false); break;
    case OpKind::kList:
      op.page_size = Of({0, 1, 2, 3, 7, 5000});
      op.states = OneIn(2) ? 0 : 1 + Index(255);
      op.filter_target = OneIn(4);
      op.target = Index(targets_);
      op.filter_label = OneIn(4) ? Index(3) : 0;
      if (!driver.pages().empty() && OneIn(2)) {
        op.of = driver.pages()[Below(driver.pages().size())];
      } else if (OneIn(20)) {
        op.of = kMadeUp;
      }
      break;
    case OpKind::kLease: DrawLease(op, driver); break;
    case OpKind::kAbandon:
      op.of = Index(slot + 1);
      if (!model.calls().empty()) op.of = model.calls()[Below(model.calls().size())].slot;
      break;
    case OpKind::kAcknowledge:
    case OpKind::kComplete: DrawReport(op, driver); break;
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
      op.is_lost = OneIn(5);
      break;
    case OpKind::kOnNoLeases: op.peek = OneIn(4); break;
    case OpKind::kWait:
      op.advance_ms = Of<int64_t>({100, 1000, 1000, 5000, 60'000, 600'000});
      break;
    default: break;
  }
  return op;
}

std::string RunSeed(uint64_t seed, ModelMistake mistake, Schedule& schedule,
                    std::map<std::string, int64_t>* reached) {
  running_seed = static_cast<std::sig_atomic_t>(seed);
  std::signal(SIGABRT, PrintSeed);
#ifndef __SANITIZE_ADDRESS__  // It prints more itself.
  std::signal(SIGSEGV, PrintSeed);
#endif
  ScheduleGenerator generator(seed);
  schedule.setup = generator.DrawSetup();
  schedule.ops.clear();
  ModelDriver driver(schedule.setup, mistake);
  for (int slot = 0; slot < kOperations && !driver.failed(); ++slot) {
    schedule.ops.push_back(generator.Draw(slot, driver));
    driver.Apply(schedule.ops.back());
  }
  driver.Finish();
  if (reached != nullptr) {
    for (const auto& [what, count] : driver.model().reached()) (*reached)[what] += count;
  }
  return driver.disagreement();
}

}  // namespace callslip::tracker
