#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace callslip::tracker {

// The arguments of `callslip-tracker import` and `export`.
struct MoveRequest {
  std::string data_dir;
  std::string storage;  // postgres://…
  // See PostgresDemands; for an import.
  bool standby = true;
  // Receives the progress, for people.
  std::FILE* out = stderr;
  // Called repeatedly: whether to stop.
  std::function<bool()> is_stopped = [] { return false; };
};

// Copies the whole contents of a data directory into the tables of a database, which must be empty,
// or vice versa. The source is left in the state in which a tracker started there and stopped would
// leave it. The target is not served before it is complete and was compared with what was read; the
// next call restarts an unfinished copy from the beginning.
//
// FAILED_PRECONDITION, with what to do, if a tracker uses source or target, the target is not
// empty, or something cannot be read; CANCELLED; otherwise errors of either.
absl::Status Import(const MoveRequest& request);
absl::Status Export(const MoveRequest& request);

}  // namespace callslip::tracker
