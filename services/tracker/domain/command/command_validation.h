#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_VALIDATION_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_VALIDATION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// What an empty name in a request stands for.
inline constexpr char kDefaultTarget[] = "browser";
inline constexpr char kDefaultWorker[] = "default";

// Fills in the defaults of a registration, then checks all but its deadlines against
// command_limits.h. INVALID_ARGUMENT naming the field.
absl::Status CompleteAndCheck(CommandRequest& request, absl::Time now);

// INVALID_ARGUMENT where a name that a caller chose is too long or has control characters.
absl::Status CheckName(absl::string_view field, absl::string_view name);

// Cuts at a character's boundary, so that the text stays valid UTF-8.
void Cut(std::string& text, size_t max_bytes);

// Cuts rather than refuses, and gives an error without a code `fallback_code`: an outcome must not
// be lost over its words.
void CutError(CommandError& error, absl::string_view fallback_code);

// INVALID_ARGUMENT where a payload that a worker reports is too large. Cuts the texts for people.
absl::Status CheckAndCut(CommandOutcome& outcome);
absl::Status CheckContext(const Payload& context);
// Brings the fraction into [0, 1] and cuts the message.
void Bound(CommandProgress& progress);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_VALIDATION_H_
