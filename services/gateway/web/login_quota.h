#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "gateway/http/address_quota.h"
#include "gateway/http/failure_quota.h"

namespace callslip::gateway {

// Limits how many codes can be in transit to the authorization server, and how many from one
// address can fail: such servers lock out clients that ask too often, and all logins use this
// gateway as the client.
class LoginQuota {
 public:
  // Codes that wait to be exchanged; each holds its request.
  static constexpr int kMaxWaiting = 16;
  static constexpr int kMaxWaitingOfAddress = 4;
  // More than users try, with several of them behind one address; and for all addresses.
  static constexpr int kMaxFailedOfAddress = 10;
  static constexpr int kMaxFailed = 60;
  static constexpr absl::Duration kWindow = absl::Minutes(1);

  explicit LoginQuota(Clock* clock) : failed_(clock, {kMaxFailedOfAddress, kMaxFailed, kWindow}) {}

  // A place for a code from `address` (AddressKey()), held until it is destroyed.
  // RESOURCE_EXHAUSTED, reason `too_many_logins` with a delay, if there is none.
  absl::StatusOr<std::shared_ptr<void>> Take(const std::string& address);

  // Counts a code from `address` that was refused or could not be submitted.
  void CountFailed(const std::string& address) { failed_.CountFailed(address); }

 private:
  AddressQuota all_{kMaxWaiting};
  AddressQuota waiting_{kMaxWaitingOfAddress};
  FailureQuota failed_;
};

}  // namespace callslip::gateway
