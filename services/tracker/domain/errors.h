#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tracker/domain/command/command_state.h"

// Every error that the tracker's domain returns, by name. The reasons (see ErrorDetails) are part
// of the public API and documented in command_service.proto.
namespace callslip::tracker {

absl::Status InvalidField(absl::string_view field, absl::string_view problem);
// InvalidField if `text` has more than `most` bytes.
absl::Status CheckSize(absl::string_view field, absl::string_view text, size_t most);
absl::Status InvalidPageToken();
absl::Status ResultTooLarge(size_t bytes, size_t limit);
absl::Status DrawingTooLarge(size_t bytes, size_t limit);
absl::Status CommandNotFound(absl::string_view id);
absl::Status CommandRemoved(absl::string_view id, CommandState ended_as);
absl::Status CommandAlreadyEnded(absl::string_view id, CommandState state);
absl::Status NotADeadLetter(absl::string_view id, CommandState state);
absl::Status NotReplayable(absl::string_view id);
absl::Status WrongLease(absl::string_view id);
absl::Status WorkerTaken(absl::string_view worker_id);
absl::Status RequestIdReused(absl::string_view request_id);
// The request was sent before; only a tombstone is left of the command that it created.
absl::Status RequestOfRemoved(absl::string_view request_id, absl::string_view id,
                              CommandState ended_as);

// `of_client`: whether the client's own limit was reached, not that of all clients together.
absl::Status QueueFull(absl::string_view target, int64_t depth, bool of_client);
absl::Status TooManyCommands(int64_t limit, bool of_client);
absl::Status TooManyBytes(int64_t limit, bool of_client);
absl::Status TooManyWaits(int64_t limit, bool of_client);
absl::Status TooManyWaiters(int64_t limit, bool of_client);
absl::Status TooManyFilters(int64_t limit);
absl::Status TooSlow();
absl::Status Draining();
absl::Status StorageUnavailable();

}  // namespace callslip::tracker
