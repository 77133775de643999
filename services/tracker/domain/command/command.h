#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/trace_context.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command_deadlines.h"
#include "tracker/domain/command/command_id.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/command/command_state.h"

namespace callslip::tracker {

// Constant bytes, possibly megabytes: shared, never copied. Null means none.
using Payload = std::shared_ptr<const std::string>;

enum class CommandClass : uint8_t { kStandard, kHuman };

// A client's request; see RegisterCommandRequest in command_service.proto.
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
  std::string replay_of;  // Id of the command that it replays; empty if none.
  // What the command waits for in addition to a worker. Never set by a client: the code that
  // registers the command sets it, and reads it after a restart. Opaque here.
  std::string subject;
  // Not used here; passed on.
  TraceContext trace;
  std::string tracestate;
  std::string baggage;
};

// A short text of a command. A new one needs a member above and a row below.
struct CommandName {
  absl::string_view field;  // Of RegisterCommandRequest.
  std::string CommandRequest::*member;
  size_t max_bytes = kMaxNameBytes;  // 0: not chosen by a client, or checked before.
  // A request that is sent again must have the same.
  bool of_repeat = true;
  // Another command for the same work has it too.
  bool of_work = true;
};

inline constexpr CommandName kCommandNames[] = {
    // The client is a part of the key by which a repeated request finds its command.
    {.field = "client_id", .member = &CommandRequest::client_id, .of_repeat = false},
    {.field = "target", .member = &CommandRequest::target},
    {.field = "type", .member = &CommandRequest::type, .max_bytes = kMaxTypeBytes},
    {.field = "request_id",
     .member = &CommandRequest::request_id,
     .of_repeat = false,
     .of_work = false},
    {.field = "label", .member = &CommandRequest::label, .of_repeat = false},
    {.field = "ordering_key", .member = &CommandRequest::ordering_key},
    {.field = "replay_of", .member = &CommandRequest::replay_of, .max_bytes = 0, .of_work = false},
    {.field = "subject", .member = &CommandRequest::subject, .max_bytes = 0, .of_work = false},
    {.field = "tracestate",
     .member = &CommandRequest::tracestate,
     .max_bytes = 0,
     .of_repeat = false,
     .of_work = false},
    {.field = "baggage",
     .member = &CommandRequest::baggage,
     .max_bytes = 0,
     .of_repeat = false,
     .of_work = false},
};

// An accepted request. Constant, and shared by all readers of the command.
//
// There can be a million of them, so the names are stored in one piece of memory.
class CommandSpec {
 public:
  CommandSpec(CommandId command_id, const CommandRequest& request, absl::Time now, uint64_t number,
              std::shared_ptr<const CommandDeadlines> clocks);

  absl::string_view client_id() const { return Name<&CommandRequest::client_id>(); }
  absl::string_view target() const { return Name<&CommandRequest::target>(); }
  absl::string_view type() const { return Name<&CommandRequest::type>(); }
  absl::string_view request_id() const { return Name<&CommandRequest::request_id>(); }
  absl::string_view label() const { return Name<&CommandRequest::label>(); }
  absl::string_view ordering_key() const { return Name<&CommandRequest::ordering_key>(); }
  // Id of the command that it replays; empty if none.
  absl::string_view replay_of() const { return Name<&CommandRequest::replay_of>(); }
  absl::string_view subject() const { return Name<&CommandRequest::subject>(); }
  // Companions of `trace`.
  absl::string_view tracestate() const { return Name<&CommandRequest::tracestate>(); }
  absl::string_view baggage() const { return Name<&CommandRequest::baggage>(); }

  // True if `request`, sent again with the same request_id, asks for the same command.
  bool IsFor(const CommandRequest& request) const;
  // A request for the same work, to be delivered at once. Without the subject, which the code that
  // registers a command sets.
  CommandRequest ToRequest() const;
  // A copy that was registered earlier by this much.
  std::shared_ptr<const CommandSpec> Earlier(absl::Duration by) const;
  // A copy without parameters, for display only.
  std::shared_ptr<const CommandSpec> WithoutParams() const;

  // Records that a reader received the result. True on the first call.
  bool MarkRead() const { return !read_ && !read_.exchange(true); }
  bool is_read() const { return read_; }

  // Bytes of params and of baggage, the only name that can be long.
  int64_t payload_bytes() const {
    return (params == nullptr ? 0 : static_cast<int64_t>(params->size())) +
           static_cast<int64_t>(baggage().size());
  }

  // Earliest time of its delivery, when its deadlines start.
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
  static constexpr size_t kNames = std::size(kCommandNames);

  // The request that created this.
  CommandRequest Request() const;
  absl::string_view NameAt(size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return absl::string_view(names_.data() + begin, ends_[index] - begin);
  }
  template <std::string CommandRequest::*kMember>
  absl::string_view Name() const {
    constexpr size_t kIndex = [] {
      size_t index = 0;
      while (kCommandNames[index].member != kMember) ++index;
      return index;
    }();
    return NameAt(kIndex);
  }

  mutable std::atomic<bool> read_{false};  // The only member that changes.
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

// How long the worker executed a command, and how long before its report it finished: by its own
// clock, which need not agree with the tracker's. 0 micros: not reported.
struct WorkTime {
  uint32_t micros = 0;
  uint32_t age_micros = 0;
};

// State of a command at one moment. Constant: each change makes a new snapshot.
struct CommandSnapshot {
  std::shared_ptr<const CommandSpec> spec;
  CommandState state = CommandState::kQueued;
  int16_t attempt = 0;
  WorkTime work;  // As reported with its end.
  int64_t revision = 1;
  absl::InlinedVector<TraceEntry, 4> trace;
  // The worker of each delivery; without the first ones if an earlier version stored the command.
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

  // First and last time when it passed through `stage`, in nanoseconds since 1970; kNotYet if it
  // has not.
  int64_t FirstNanos(TraceEntry::Stage stage) const;
  int64_t LastNanos(TraceEntry::Stage stage) const;

  // When its worker executed it, in nanoseconds since 1970: as the worker reported, within the last
  // delivery. Nullopt if the worker did not report it.
  struct Stretch {
    int64_t begin;
    int64_t end;
  };
  std::optional<Stretch> WorkNanos() const;

  // When it was last delivered, first acknowledged, and ended; InfinitePast if it was not.
  absl::Time deliver_time() const;
  absl::Time start_time() const;
  absl::Time end_time() const;
};

using CommandPtr = std::shared_ptr<const CommandSnapshot>;

// The outcome of a command, as its worker reports it.
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
  absl::Duration start_to_close;  // Time left of it, or of schedule_to_close.
};

// Nearly always one.
using CommandLeases = absl::InlinedVector<CommandLease, 1>;

// Proof that a worker's report concerns a delivery of its own.
struct LeaseProof {
  // Nullopt only from workers whose protocol has no leases: any delivery matches then.
  std::optional<LeaseToken> token;
  int attempt = 0;                           // 0: not given.
  ClientScope clients = ClientScope::All();  // Clients whose commands it takes.
};

}  // namespace callslip::tracker
