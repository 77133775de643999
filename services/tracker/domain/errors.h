#ifndef CALLSLIP_TRACKER_DOMAIN_ERRORS_H_
#define CALLSLIP_TRACKER_DOMAIN_ERRORS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tracker/domain/command/command_state.h"

// Every error that the tracker's domain returns, by name. The reasons (see ErrorDetails) are part
// of the public API and documented in command_service.proto.
namespace callslip::tracker {

absl::Status InvalidField(absl::string_view field, absl::string_view problem);
absl::Status InvalidPageToken();
absl::Status ResultTooLarge(size_t bytes, size_t limit);
absl::Status CommandNotFound(absl::string_view id);
absl::Status CommandRemoved(absl::string_view id, CommandState ended_as);
absl::Status CommandAlreadyEnded(absl::string_view id, CommandState state);
absl::Status WrongLease(absl::string_view id);
absl::Status RequestIdReused(absl::string_view request_id);
absl::Status QueueFull(absl::string_view target, int depth);
absl::Status TableFull();
absl::Status TooManyWaits();
absl::Status Draining();

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_ERRORS_H_
