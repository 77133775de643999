#ifndef CALLSLIP_TELEMETRY_OTLP_TRANSPORT_H_
#define CALLSLIP_TELEMETRY_OTLP_TRANSPORT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "telemetry/telemetry_settings.h"

namespace callslip {

// The way to a collector. Used by one thread, Abort() excepted.
class OtlpTransport {
 public:
  virtual ~OtlpTransport() = default;

  // Hands over the bytes of one Export…ServiceRequest. Blocks, for about `within` at most, or as
  // long as one attempt may take. UNAVAILABLE where the same may be tried again.
  virtual absl::Status Send(const std::string& request, absl::Duration within) = 0;
  // Ends what is being sent, and all that comes. Thread-safe, does not block.
  virtual void Abort() = 0;
};

// By HTTP/1.1, each request a POST. INVALID_ARGUMENT where the file of authorities is none.
absl::StatusOr<std::unique_ptr<OtlpTransport>> HttpTransport(const OtlpTarget& target);
// By the Export method of the signal's service.
absl::StatusOr<std::unique_ptr<OtlpTransport>> GrpcTransport(const OtlpTarget& target);

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_OTLP_TRANSPORT_H_
