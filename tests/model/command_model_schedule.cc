#include "model/command_model_schedule.h"

#include "absl/strings/str_cat.h"

namespace callslip::tracker {
namespace {

constexpr std::array<const char*, kOpKinds> kOpNames = {
    "Register",     "Repeat",   "Replay",  "Get",        "List",        "Cancel",
    "Expire",       "Lease",    "Abandon", "GiveBack",   "Acknowledge", "Complete",
    "Watch",        "WatchAll", "Unwatch", "FailWatch",  "Take",        "Wait",
    "NextDeadline", "Jump",     "Drain",   "OnNoLeases", "Restart"};

}  // namespace

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
    case OpKind::kRepeat: add("variation ", op.flaw); break;
    case OpKind::kReplay:
      add("by ", kClients[static_cast<size_t>(op.client)]);
      if (op.request_id != 0) add("request_id ", op.request_id);
      break;
    case OpKind::kGet:
      if (op.peek) add("peek");
      [[fallthrough]];
    case OpKind::kCancel:
    case OpKind::kExpire: add("by ", kClients[static_cast<size_t>(op.client)]); break;
    case OpKind::kLease:
      add("by ", kWorkers[static_cast<size_t>(op.worker)], " of ",
          kTargets[static_cast<size_t>(op.target)], " max ", op.max_commands, " window ", op.window,
          " hold ", op.hold_ms, " ms");
      if (op.back_within_ms != 0) add("back within ", op.back_within_ms, " ms");
      break;
    case OpKind::kGiveBack: add("delivery ", op.delivery); break;
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
      if (op.is_lost) add("lost");
      break;
    default: break;
  }
  return text;
}

DeadlineOverrides OverridesOf(int preset) {
  using absl::Milliseconds;
  using absl::Minutes;
  using absl::Seconds;
  switch (preset) {
    case 1: return {.ack_wait = Milliseconds(500)};
    case 2: return {.start_to_close = Milliseconds(500)};
    case 3: return {.schedule_to_close = Milliseconds(44'500)};
    case 4: return {.result_retention = Seconds(1)};
    case 5: return {.schedule_to_start = Seconds(120), .heartbeat_timeout = Seconds(25)};
    case 6: return {.schedule_to_start = Milliseconds(6'500), .start_to_close = Seconds(60)};
    case 7: return {.heartbeat_timeout = Milliseconds(4'500), .result_retention = Minutes(9)};
    case 8: return {.start_to_close = kMaxStartToClose};
    case 9: return {.schedule_to_close = kMaxScheduleToClose};
    case 10: return {.ack_wait = Milliseconds(99)};
    case 11: return {.schedule_to_close = Seconds(3)};
    case 12: return {.result_retention = Minutes(10)};
    case 13: return {.ack_wait = Seconds(25)};
    case 14: return {.start_to_close = kMaxStartToClose + Milliseconds(500)};
    case 15: return {.schedule_to_close = kMaxScheduleToClose + Milliseconds(500)};
    case 16: return {.ack_wait = Seconds(8), .heartbeat_timeout = Seconds(8)};
    case 17: return {.schedule_to_start = Seconds(40), .schedule_to_close = Seconds(40)};
    default: return {};
  }
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
  if (setup.restarts) absl::StrAppend(&text, "; keeps a journal");
  absl::StrAppend(&text, setup.fires_early ? "; fires early\n" : "\n");
  for (const Op& op : schedule.ops) absl::StrAppend(&text, ToString(op), "\n");
  return text;
}

}  // namespace callslip::tracker
