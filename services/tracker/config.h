#ifndef CALLSLIP_TRACKER_CONFIG_H_
#define CALLSLIP_TRACKER_CONFIG_H_

#include <string>

#include "absl/status/status.h"
#include "common/address.h"
#include "common/config.h"
#include "tracker/domain/command/command_deadlines.h"

namespace callslip::tracker {

// All settings of callslip-tracker with their defaults.
struct TrackerConfig {
  Address listen{.host = "127.0.0.1", .port = 7900};
  bool allow_insecure_bind = false;
  std::string data_dir;
  int poll_threads = 1;
  absl::Duration drain_grace = absl::Seconds(5);
  std::string log_level = "info";
  CommandDeadlines deadlines;

  void AddTo(OptionSet& options);
  // INVALID_ARGUMENT with what to change, where the settings contradict each other.
  absl::Status Validate() const;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_CONFIG_H_
