#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/address.h"

namespace callslip::gateway {

// The check of `callslip-gateway healthcheck`: OK if the gateway that listens at these addresses of
// this machine responds with 200 to GET /readyz within `timeout`, otherwise UNAVAILABLE. Uses a
// Unix-domain socket if there is one, else the first address, with TLS if `is_tls`.
absl::Status CheckReadiness(const std::vector<Address>& listen, bool is_tls,
                            absl::Duration timeout);

}  // namespace callslip::gateway
