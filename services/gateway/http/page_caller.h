#ifndef CALLSLIP_GATEWAY_HTTP_PAGE_CALLER_H_
#define CALLSLIP_GATEWAY_HTTP_PAGE_CALLER_H_

#include "absl/status/statusor.h"
#include "auth/credentials.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// Tells who calls through the gateway's own page, which shows no token.
class PageCaller {
 public:
  virtual ~PageCaller() = default;

  // Whether it says that it comes from the page. Costs next to nothing.
  virtual bool IsFromPage(const HttpRequest& request) const = 0;
  // Who has logged in there. UNAUTHENTICATED for nobody, or where that is over; UNAVAILABLE where
  // that can't be told yet.
  virtual absl::StatusOr<CredentialPtr> Find(const HttpRequest& request) = 0;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_PAGE_CALLER_H_
