#ifndef CALLSLIP_GATEWAY_HTTP_PAGE_CHECK_H_
#define CALLSLIP_GATEWAY_HTTP_PAGE_CHECK_H_

#include <optional>

#include "gateway/http/http_message.h"

namespace callslip::gateway {

// For a GET that changes something: 403 `page_not_excluded` where it may be a page's image that
// asks. The filter know pages by what browsers say in their requests, but over plain HTTP to
// another machine browsers say nothing (Sec-Fetch-Site is for hosts that they trust). Without
// tokens, it then has to carry `Content-Type: application/json`, which no page can send unasked.
std::optional<HttpResponse> ExcludePages(const HttpRequest& request);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_PAGE_CHECK_H_
