#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/config.h"

namespace callslip::gateway {

// The settings of the gateway as an OAuth 2.1 resource server.
struct OAuthConfig {
  std::string issuer;  // Empty: not a resource server.
  std::string resource;
  std::vector<std::string> scopes = {"callslip.client=client", "callslip.view=viewer",
                                     "callslip.admin=admin", "callslip.work=worker"};
  std::string principal_claim = "sub";
  std::string ca_file;
  std::string page_client;  // Empty: no login at the page through the issuer.

  bool is_on() const { return !issuer.empty(); }

  void AddTo(OptionSet& options);
  // INVALID_ARGUMENT with what to change.
  absl::Status Validate() const;
};

}  // namespace callslip::gateway
