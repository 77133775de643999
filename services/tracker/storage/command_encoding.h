#ifndef CALLSLIP_TRACKER_STORAGE_COMMAND_ENCODING_H_
#define CALLSLIP_TRACKER_STORAGE_COMMAND_ENCODING_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/journal/journal.h"

// How parts of a command look as bytes, in rows and in the journal's log alike. Decoding returns
// false, or nothing, for bytes that no tracker has made.
namespace callslip::tracker {

// Ten bytes for each step: nanoseconds since 1970, stage and source.
void EncodeTrace(const CommandSnapshot& command, std::string& bytes);
bool DecodeTrace(absl::string_view bytes, CommandSnapshot& command);

// Empty where the command has brought no clocks along; else nanoseconds of each, negative for none.
std::string EncodeOverrides(const DeadlineOverrides& overrides);
bool DecodeOverrides(absl::string_view bytes, DeadlineOverrides& overrides);

// The reverse of CommandStateName().
std::optional<CommandState> StateFrom(absl::string_view name);

// Whether it is so as the table takes for granted.
bool IsSensible(const CommandSnapshot& command, const CommandRecord& record);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_COMMAND_ENCODING_H_
