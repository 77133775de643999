#ifndef CALLSLIP_BRIDGE_DOCTOR_FAR_LINKS_H_
#define CALLSLIP_BRIDGE_DOCTOR_FAR_LINKS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bridge/doctor/link.h"
#include "bridge/http/gateway_client.h"
#include "bridge/json/json_rpc.h"

// What the doctor learns of the links beyond the tracker: by asking the gateway.
namespace callslip::bridge {

// A well gateway answers at once; its own look at the tracker takes a second at most.
inline constexpr absl::Duration kDoctorPatience = absl::Seconds(3);

// `params` are members of a JSON object, each with a comma behind it.
Message RequestOfDoctor(absl::string_view method, absl::string_view params);
Exchange SendOfDoctor(GatewayClient& gateway, const Message& request);

// Adds extension, tab and runner; where the gateway is not `askable` they are unknown.
void AddFarLinks(GatewayClient& gateway, bool askable, std::vector<Link>& links);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_DOCTOR_FAR_LINKS_H_
