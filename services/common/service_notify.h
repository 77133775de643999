#ifndef CALLSLIP_COMMON_SERVICE_NOTIFY_H_
#define CALLSLIP_COMMON_SERVICE_NOTIFY_H_

#include "absl/strings/string_view.h"

namespace callslip {

inline constexpr char kServiceReady[] = "READY=1";
inline constexpr char kServiceStopping[] = "STOPPING=1";

// Tells a service manager such as systemd how this process stands (sd_notify(3), Type=notify). It
// names the socket to be told in NOTIFY_SOCKET; without it, and where it does not listen, nothing
// happens. Does not block.
void NotifyServiceManager(absl::string_view state);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_SERVICE_NOTIFY_H_
