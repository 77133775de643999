#ifndef CALLSLIP_GATEWAY_HTTP_ACCEPT_H_
#define CALLSLIP_GATEWAY_HTTP_ACCEPT_H_

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// Whether the header Accept (RFC 9110, section 12.5.1) lets the answer be a `type`, such as
// "application/json": by the most specific of its ranges that match. True where there is none.
bool Accepts(absl::string_view accept, absl::string_view type);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_ACCEPT_H_
