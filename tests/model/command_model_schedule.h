#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tracker/domain/command/command_deadlines.h"
#include "tracker/domain/command/command_limits.h"

// A schedule of calls of CommandTable: a list of operations that are values. An operation refers to
// an object by the slot of the operation that made it; without that object it does nothing. Any
// part of a schedule is therefore a schedule, and a failing one can be shortened. Test code only.
namespace callslip::tracker {

inline constexpr int kFeeds = 3;
inline constexpr int kMadeUp = -2;  // Instead of a slot: an id without a command.
inline constexpr std::array<const char*, 3> kClients = {"local", "ann", "bob"};
inline constexpr std::array<const char*, 3> kTargets = {"browser", "printer", "scanner"};
inline constexpr std::array<const char*, 3> kWorkers = {"default", "w1", "w2"};
inline constexpr std::array<const char*, 3> kKeys = {"", "tab-1", "tab-2"};
inline constexpr std::array<const char*, 3> kLabels = {"", "red", "blue"};

// The environment of a schedule.
struct Setup {
  CommandDeadlines clocks;
  bool short_clocks = false;
  CommandLimits limits;
  // Fires whenever the table asks for it, not only when something is due.
  bool fires_early = false;
  // Every change goes into a journal, from which the table can be restored.
  bool restarts = false;
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
  kRestart,
};
inline constexpr int kOpKinds = 23;

enum class Proof { kNewest, kOfDelivery, kOtherCommand, kForged, kWrongAttempt, kNone };
enum class Outcome { kResult, kHugeResult, kError, kTimeout };

// One call of the table, or one step of time. Which members matter depends on `kind`.
struct Op {
  OpKind kind = OpKind::kWait;
  int slot = 0;
  int64_t advance_ms = 0;  // Before the call.
  bool within_ms = false;  // The call does not come at a whole millisecond.
  int of = -1;             // Slot of its object.
  int client = 0;
  int target = 0;
  int worker = 0;
  int feed = 0;
  bool blank = false;  // Gives the default name as "".

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

  // kTake.
  bool is_lost = false;  // The taken updates do not reach their reader.

  // kLease; kWatch, kWatchAll.
  int max_commands = 0;
  int window = 0;
  int64_t hold_ms = 0;  // -1: without end.
  int64_t back_within_ms = 0;
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

// The deadline overrides of commands: first valid ones, then some out of bounds or badly nested.
inline constexpr int kGoodClocks = 10;
inline constexpr int kAllClocks = 18;
DeadlineOverrides OverridesOf(int preset);

struct Schedule {
  Setup setup;
  std::vector<Op> ops;
};

// Readable text: one line for each operation.
std::string ToString(const Op& op);
std::string ToString(const Schedule& schedule);

}  // namespace callslip::tracker
