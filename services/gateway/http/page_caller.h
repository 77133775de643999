#pragma once

#include "absl/status/statusor.h"
#include "auth/credentials.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// Identifies the caller of a request from the gateway's own page, which shows no token.
class PageCaller {
 public:
  virtual ~PageCaller() = default;

  // Whether the request states that it comes from the page. Costs next to nothing.
  virtual bool IsFromPage(const HttpRequest& request) const = 0;
  // The user who is logged in. UNAUTHENTICATED if there is none or the login has ended; UNAVAILABLE
  // if that cannot be determined yet.
  virtual absl::StatusOr<CredentialPtr> Find(const HttpRequest& request) = 0;
};

}  // namespace callslip::gateway
