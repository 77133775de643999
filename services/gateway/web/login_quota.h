#ifndef CALLSLIP_GATEWAY_WEB_LOGIN_QUOTA_H_
#define CALLSLIP_GATEWAY_WEB_LOGIN_QUOTA_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "gateway/http/address_quota.h"
#include "gateway/http/failure_quota.h"

namespace callslip::gateway {

// How many codes may be on their way to the authorization server, and how many of one address may
// come to nothing: servers lock out who asks too often, and all ask as this gateway.
class LoginQuota {
 public:
  // Codes that wait to be exchanged; each holds its request.
  static constexpr int kMaxWaiting = 16;
  static constexpr int kMaxWaitingOfAddress = 4;
  // More than people try, with several behind one address; and of all addresses.
  static constexpr int kMaxFailedOfAddress = 10;
  static constexpr int kMaxFailed = 60;
  static constexpr absl::Duration kWindow = absl::Minutes(1);

  explicit LoginQuota(Clock* clock) : failed_(clock, {kMaxFailedOfAddress, kMaxFailed, kWindow}) {}

  // A place for a code from `address` (AddressKey()), kept until it is destroyed.
  // RESOURCE_EXHAUSTED, reason `too_many_logins` with a delay, where there is none.
  absl::StatusOr<std::shared_ptr<void>> Take(const std::string& address);

  // A code from there was refused, or could not be brought.
  void CountFailed(const std::string& address) { failed_.CountFailed(address); }

 private:
  AddressQuota all_{kMaxWaiting};
  AddressQuota waiting_{kMaxWaitingOfAddress};
  FailureQuota failed_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_WEB_LOGIN_QUOTA_H_
