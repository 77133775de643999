#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "telemetry/telemetry_settings.h"

namespace callslip {

// The collector's answer to a request.
struct OtlpAnswer {
  absl::Status status;   // UNAVAILABLE if the same request can be retried.
  int64_t rejected = 0;  // With OK: the spans or data points that the collector does not keep.
  absl::Duration retry_after = absl::ZeroDuration();  // The pause that the collector asks for.
};

// The connection to a collector. Not thread-safe: use on one thread, except Abort().
class OtlpTransport {
 public:
  virtual ~OtlpTransport() = default;

  // Sends the bytes of one Export…ServiceRequest. Blocks for at most about `within`, or the timeout
  // of one attempt.
  virtual OtlpAnswer Send(const std::string& request, absl::Duration within) = 0;
  // Ends current and future sends. Thread-safe. Does not block.
  virtual void Abort() = 0;
};

// Over HTTP/1.1, each request a POST. INVALID_ARGUMENT if a file of the target is invalid.
absl::StatusOr<std::unique_ptr<OtlpTransport>> HttpTransport(const OtlpTarget& target);
// Over gRPC, with the Export method of the signal's service.
absl::StatusOr<std::unique_ptr<OtlpTransport>> GrpcTransport(const OtlpTarget& target);

}  // namespace callslip
