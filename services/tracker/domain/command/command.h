#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/trace_companions.h"
#include "common/trace_context.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command_deadlines.h"
#include "tracker/domain/command/command_id.h"
#include "tracker/domain/command/command_state.h"

namespace callslip::tracker {

// Bytes that never change and may be megabytes: shared, never copied. Null means none.
using Payload = std::shared_ptr<const std::string>;

enum class CommandClass : uint8_t { kStandard, kHuman };

// What a client asks for; see RegisterCommandRequest in command_service.proto.
struct CommandRequest {
  std::string client_id;
  std::string target;
  std::string type;
  Payload params;
  std::string request_id;
  std::string label;
  std::string ordering_key;
  CommandClass command_class = CommandClass::kStandard;
  bool idempotent = false;
  int priority = 0;
  absl::Time not_before = absl::InfinitePast();  // InfinitePast: at once.
  DeadlineOverrides deadlines;
  std::string replay_of;  // The id of the command that it replays, if it does.
  // What it waits for, where that is more than a worker. Never a client's word: whoever registers
  // the command here writes it, and reads it after a restart. Opaque here.
  std::string subject;
  // Of no effect; handed on.
  TraceContext trace;
  TraceCompanions companions;
};

// A request that was accepted. Constant, and shared by everyone who looks at the command.
//
// There may be a million of them, so that the names are kept in one piece of memory.
class CommandSpec {
 public:
  CommandSpec(CommandId command_id, const CommandRequest& request, absl::Time now, uint64_t number,
              std::shared_ptr<const CommandDeadlines> clocks);

  absl::string_view client_id() const { return Name(0); }
  absl::string_view target() const { return Name(1); }
  absl::string_view type() const { return Name(2); }
  absl::string_view request_id() const { return Name(3); }
  absl::string_view label() const { return Name(4); }
  absl::string_view ordering_key() const { return Name(5); }
  // The id of the command that it replays; empty where it replays none.
  absl::string_view replay_of() const { return Name(6); }
  absl::string_view subject() const { return Name(7); }
  // What goes beside `trace`.
  absl::string_view tracestate() const { return Name(8); }
  absl::string_view baggage() const { return Name(9); }

  // True where registering `request` again under the same request_id asks for the same thing.
  bool IsFor(const CommandRequest& request) const;
  // The request that asks for the same again, at once; without a subject, which is the business of
  // whoever registers it.
  CommandRequest ToRequest() const;
  // This, registered by so much earlier.
  std::shared_ptr<const CommandSpec> Earlier(absl::Duration by) const;
  // This without its parameters, to be shown and for nothing else.
  std::shared_ptr<const CommandSpec> WithoutParams() const;

  // The read receipt: somebody has been given the result. True where nobody had been before.
  bool MarkRead() const { return !read_ && !read_.exchange(true); }
  bool is_read() const { return read_; }

  // Of params, and of the one name that may be long.
  int64_t payload_bytes() const {
    return (params == nullptr ? 0 : static_cast<int64_t>(params->size())) +
           static_cast<int64_t>(baggage().size());
  }

  // When it may be delivered at the earliest, which is when its clocks start.
  absl::Time ready_time() const { return std::max(register_time, not_before); }

  const CommandId id;
  const Payload params;  // A JSON object, opaque here.
  const std::shared_ptr<const CommandDeadlines> deadlines;
  const absl::Time register_time;
  const absl::Time not_before;  // InfinitePast: at once.
  const uint64_t sequence;      // Registration order over all partitions.
  const int8_t priority;
  const CommandClass command_class;
  const bool idempotent;
  const TraceContext trace;

 private:
  static constexpr size_t kNames = 10;

  // The request that has made it.
  CommandRequest Request() const;
  absl::string_view Name(size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return absl::string_view(names_.data() + begin, ends_[index] - begin);
  }

  mutable std::atomic<bool> read_{false};  // The only thing about it that changes.
  std::array<uint16_t, kNames> ends_;
  absl::InlinedVector<char, 40> names_;  // Long enough for most.
};

// How a command failed; see the message of the same name in command.proto.
struct CommandError {
  std::string code;
  std::string message;
  std::string hint;
  bool may_have_executed = false;
};

struct CommandProgress {
  double fraction = 0;
  std::string message;
};

struct TraceEntry {
  enum class Stage : uint8_t { kQueued, kSent, kStarted, kReturned, kResolved, kLateResult };
  enum class Source : uint8_t { kClient, kWorker, kTracker };

  int64_t unix_nanos;
  Stage stage;
  Source source;
};

// How long the worker was at a command, and how long before its report it was done: by its own
// clock, so that it need not be the tracker's. 0 micros: it has not said so.
struct WorkTime {
  uint32_t micros = 0;
  uint32_t age_micros = 0;
};

// A command as it is at one moment. Constant: each change makes a new one.
struct CommandSnapshot {
  std::shared_ptr<const CommandSpec> spec;
  CommandState state = CommandState::kQueued;
  int16_t attempt = 0;
  WorkTime work;  // As reported with its end.
  int64_t revision = 1;
  absl::InlinedVector<TraceEntry, 4> trace;
  // To whom it was delivered, each time; without the first ones where an earlier version has kept
  // the command.
  absl::InlinedVector<std::shared_ptr<const std::string>, 1> workers;
  Payload result;
  std::shared_ptr<const CommandError> error;
  std::shared_ptr<const CommandProgress> progress;
  Payload context;
  Payload late_result;

  static int64_t BytesOf(const Payload& payload) {
    return payload == nullptr ? 0 : static_cast<int64_t>(payload->size());
  }
  // Bytes of all payloads.
  int64_t payload_bytes() const {
    return spec->payload_bytes() + BytesOf(result) + BytesOf(context) + BytesOf(late_result);
  }
  static constexpr int64_t kNotYet = std::numeric_limits<int64_t>::min();

  // When it went through `stage`, in nanoseconds since 1970, for the first and the last time;
  // kNotYet where it has not.
  int64_t FirstNanos(TraceEntry::Stage stage) const;
  int64_t LastNanos(TraceEntry::Stage stage) const;

  // When its worker was at it, in nanoseconds since 1970: its time up to its report, within its
  // last delivery. Nullopt where it has not said so.
  struct Stretch {
    int64_t begin;
    int64_t end;
  };
  std::optional<Stretch> WorkNanos() const;

  // When it was last delivered, first acknowledged, and ended; InfinitePast where it was not.
  absl::Time deliver_time() const;
  absl::Time start_time() const;
  absl::Time end_time() const;
};

using CommandPtr = std::shared_ptr<const CommandSnapshot>;

// How a worker says that a command went.
struct CommandResult {
  Payload value;
};
struct CommandFailure {
  CommandError error;
};
struct CommandTimeout {
  CommandError error;
};
using CommandOutcome = std::variant<CommandResult, CommandFailure, CommandTimeout>;

// One delivery of one command to one worker.
struct CommandLease {
  CommandPtr command;
  LeaseToken token;
  absl::Duration start_to_close;  // What is left of it, or of schedule_to_close.
};

// Nearly always one.
using CommandLeases = absl::InlinedVector<CommandLease, 1>;

// What a worker quotes to prove that it reports about a delivery of its own.
struct LeaseProof {
  // Nullopt only from workers that speak a protocol without leases: then any delivery will do.
  std::optional<LeaseToken> token;
  int attempt = 0;                           // 0: not said.
  ClientScope clients = ClientScope::All();  // Whose commands the worker takes.
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_H_
