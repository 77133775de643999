#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// Defaults for empty names in a request.
inline constexpr char kDefaultTarget[] = "browser";
inline constexpr char kDefaultWorker[] = "default";

// Fills in the defaults of a registration, then checks all but its deadlines against
// command_limits.h. INVALID_ARGUMENT, naming the field, if a check fails.
absl::Status CompleteAndCheck(CommandRequest& request, absl::Time now);

// INVALID_ARGUMENT if a name that a caller chose is too long or has control characters.
absl::Status CheckName(absl::string_view field, absl::string_view name);

// Replaces empty names of a worker by the defaults, then checks them with CheckName().
absl::Status CompleteAndCheckWorker(std::string& target, std::string& worker_id);

// Truncates at a character boundary, so that the text stays valid UTF-8.
void Cut(std::string& text, size_t max_bytes);

// Truncates instead of refusing, and sets `fallback_code` if the error has no code: an outcome must
// not be lost because of its texts.
void CutError(CommandError& error, absl::string_view fallback_code);

// INVALID_ARGUMENT if a payload that a worker reports is too large. Truncates the texts for people.
absl::Status CheckAndCut(CommandOutcome& outcome);
absl::Status CheckContext(const Payload& context);
// Limits the fraction to [0, 1] and truncates the message.
void Bound(CommandProgress& progress);

}  // namespace callslip::tracker
