#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/command/command_state.h"

namespace callslip::tracker {

// Bytes that never change and may be megabytes: shared, never copied. Null means none.
using Payload = std::shared_ptr<const std::string>;

enum class CommandClass : uint8_t { kStandard, kHuman };

// What a client asks for. Constant once registered, and shared by everyone who looks at it.
struct CommandSpec {
  std::string id;  // Given by the tracker at registration.
  std::string client_id;
  std::string target;
  std::string type;
  Payload params;  // A JSON object, opaque here.
  std::string request_id;
  std::string label;
  CommandClass command_class = CommandClass::kStandard;
  bool idempotent = false;
  absl::Duration start_to_close;
  absl::Time register_time;
  uint64_t sequence = 0;  // Registration order over all partitions.
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

  Stage stage;
  Source source;
  absl::Time time;
};

// A command as it is at one moment: what is handed to readers and waiters.
struct CommandSnapshot {
  std::shared_ptr<const CommandSpec> spec;
  CommandState state = CommandState::kQueued;
  int attempt = 0;
  int64_t revision = 1;
  std::optional<CommandProgress> progress;
  absl::Time deliver_time = absl::InfinitePast();  // InfinitePast: has not happened.
  absl::Time start_time = absl::InfinitePast();
  absl::Time end_time = absl::InfinitePast();
  Payload result;
  std::shared_ptr<const CommandError> error;
  Payload context;
  Payload late_result;
  absl::InlinedVector<TraceEntry, 4> trace;
};

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
  CommandSnapshot command;
  std::string lease_token;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_H_
