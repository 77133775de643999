#ifndef CALLSLIP_GATEWAY_WEB_LOGIN_QUOTA_H_
#define CALLSLIP_GATEWAY_WEB_LOGIN_QUOTA_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "gateway/http/address_quota.h"

namespace callslip::gateway {

// How many codes may be on their way to the authorization server, and how many of one address may
// come to nothing: servers lock out who asks too often, and all ask as this gateway.
class LoginQuota {
 public:
  // Codes that wait to be exchanged; each holds its request.
  static constexpr int kMostWaiting = 16;
  static constexpr int kMostWaitingOfAddress = 4;
  // More than people try, with several behind one address.
  static constexpr int kMostFailedOfAddress = 10;
  static constexpr absl::Duration kWindow = absl::Minutes(1);
  // Of which failures are remembered; some 100 bytes each. Of more, the oldest is forgotten.
  static constexpr size_t kMaxAddresses = 10'000;

  explicit LoginQuota(Clock* clock) : clock_(clock) {}

  // A place for a code from `address` (AddressKey()), kept until it is destroyed.
  // RESOURCE_EXHAUSTED, reason `too_many_logins` with a delay, where there is none.
  absl::StatusOr<std::shared_ptr<void>> Take(const std::string& address);

  // A code from there was refused, or could not be brought.
  void CountFailed(const std::string& address);

 private:
  struct Failed {
    absl::Time since;
    int codes = 0;
  };

  Clock* const clock_;
  AddressQuota all_{kMostWaiting};
  AddressQuota waiting_{kMostWaitingOfAddress};
  absl::flat_hash_map<std::string, Failed> failed_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_WEB_LOGIN_QUOTA_H_
