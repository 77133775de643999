#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bridge/doctor/link.h"
#include "bridge/http/gateway_client.h"
#include "bridge/json/json_rpc.h"

// The doctor's checks of the links beyond the tracker, made by querying the gateway.
namespace callslip::bridge {

// A working gateway answers immediately; its own check of the tracker takes a second at most.
inline constexpr absl::Duration kDoctorPatience = absl::Seconds(3);

// `params` are members of a JSON object, each followed by a comma.
Message RequestOfDoctor(absl::string_view method, absl::string_view params);
Exchange SendOfDoctor(GatewayClient& gateway, const Message& request);

// Adds extension, tab and runner; they are unknown if the gateway is not `askable`.
void AddLinksBeyondTracker(GatewayClient& gateway, bool askable, std::vector<Link>& links);

}  // namespace callslip::bridge
