#pragma once

#include "absl/strings/string_view.h"

namespace callslip {

inline constexpr char kServiceReady[] = "READY=1";
inline constexpr char kServiceStopping[] = "STOPPING=1";

// Reports the state of this process to a service manager such as systemd (sd_notify(3),
// Type=notify). NOTIFY_SOCKET names the manager's socket; if it is not set or the socket is not
// listening, this does nothing. Does not block.
void NotifyServiceManager(absl::string_view state);

}  // namespace callslip
