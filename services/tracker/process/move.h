#ifndef CALLSLIP_TRACKER_PROCESS_MOVE_H_
#define CALLSLIP_TRACKER_PROCESS_MOVE_H_

#include <cstdio>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace callslip::tracker {

// What `callslip-tracker import` and `export` are told.
struct MoveRequest {
  std::string data_dir;
  std::string storage;  // postgres://…
  // See PostgresDemands; of an import.
  bool standby = true;
  // Where progress is shown, for people.
  std::FILE* out = stderr;
  // Asked again and again whether to stop.
  std::function<bool()> is_stopped = [] { return false; };
};

// Copies all that a data directory holds into the tables of a database, which are empty, or the
// other way round. The source stays as a tracker leaves it that was started there and stopped. The
// target serves nobody before it holds everything, which is compared with what was read; what was
// begun and not finished is begun anew by the next call.
//
// FAILED_PRECONDITION, with what to do, where a tracker uses either of them, the target is not
// empty, or something can't be read; CANCELLED; else errors of either.
absl::Status Import(const MoveRequest& request);
absl::Status Export(const MoveRequest& request);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_PROCESS_MOVE_H_
