#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::bridge {

// --autostart. The delay before a service that has ended by itself is restarted; likewise for the
// supervisor.
inline constexpr absl::Duration kFirstServiceDelay = absl::Milliseconds(100);
inline constexpr absl::Duration kMaxServiceDelay = absl::Seconds(5);
inline constexpr absl::Duration kSupervisorPause = absl::Seconds(1);

// How often the supervisor maintains the shared files, which are removed from /tmp after days
// without use. The most that is kept of the log, and as much again of its earlier part.
inline constexpr absl::Duration kTendFilesEvery = absl::Minutes(1);
inline constexpr size_t kMaxLogBytes = size_t{4} * 1024 * 1024;

// How long a bridge waits for the first answer of the gateway that it has started, and how often it
// polls.
inline constexpr absl::Duration kStartPatience = absl::Seconds(30);
inline constexpr absl::Duration kAskEvery = absl::Milliseconds(50);

// Once the last bridge is gone, no client waits for answers: the services end soon, or are killed.
inline constexpr char kServiceDrainGrace[] = "500ms";
inline constexpr absl::Duration kServicesEndWithin = absl::Seconds(3);

}  // namespace callslip::bridge
