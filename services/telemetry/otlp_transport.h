#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "telemetry/telemetry_settings.h"

namespace callslip {

// The connection to a collector. Not thread-safe: use on one thread, except Abort().
class OtlpTransport {
 public:
  virtual ~OtlpTransport() = default;

  // Sends the bytes of one Export…ServiceRequest. Blocks for at most about `within`, or the timeout
  // of one attempt. UNAVAILABLE if the same request can be retried.
  virtual absl::Status Send(const std::string& request, absl::Duration within) = 0;
  // Ends current and future sends. Thread-safe. Does not block.
  virtual void Abort() = 0;
};

// Over HTTP/1.1, each request a POST. INVALID_ARGUMENT if the authorities' file is invalid.
absl::StatusOr<std::unique_ptr<OtlpTransport>> HttpTransport(const OtlpTarget& target);
// Over gRPC, with the Export method of the signal's service.
absl::StatusOr<std::unique_ptr<OtlpTransport>> GrpcTransport(const OtlpTarget& target);

}  // namespace callslip
