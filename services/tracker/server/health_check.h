#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/address.h"
#include "common/tls_files.h"

namespace callslip::tracker {

// Queries the standard health service (grpc.health.v1) of the tracker at `address`, which serves
// with `tls`. OK if it reports SERVING within `timeout`, UNAVAILABLE otherwise. Implements
// `callslip-tracker healthcheck`.
absl::Status CheckHealth(const Address& address, const std::optional<TlsFiles>& tls,
                         absl::Duration timeout);

}  // namespace callslip::tracker
