#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/journal/journal.h"

// Encodes parts of a command as bytes, for rows and for the journal's log. Decoding returns false,
// or nullopt, for bytes that no tracker has written.
namespace callslip::tracker {

// Ten bytes per step: nanoseconds since 1970, stage and source.
void EncodeTrace(const CommandSnapshot& command, std::string& bytes);
bool DecodeTrace(absl::string_view bytes, CommandSnapshot& command);

// Empty if the command has no clocks of its own; otherwise the nanoseconds of each clock, negative
// if unset.
std::string EncodeOverrides(const DeadlineOverrides& overrides);
bool DecodeOverrides(absl::string_view bytes, DeadlineOverrides& overrides);

// The inverse of CommandStateName().
std::optional<CommandState> StateFrom(absl::string_view name);

// Whether the table's invariants hold for it.
bool IsSensible(const CommandSnapshot& command, const CommandRecord& record);

}  // namespace callslip::tracker
