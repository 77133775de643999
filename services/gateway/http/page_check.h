#pragma once

#include <optional>

#include "gateway/http/http_message.h"

namespace callslip::gateway {

// For a GET that changes something: 403 `page_not_excluded` if a page's image may have sent it. The
// request filter recognizes pages by headers that browsers send, but over plain HTTP to another
// machine browsers omit them (Sec-Fetch-Site is sent only to hosts that they trust). Without
// tokens, the request must therefore carry `Content-Type: application/json` or an image type, which
// no page can send without a preflight.
std::optional<HttpResponse> ExcludePages(const HttpRequest& request);

}  // namespace callslip::gateway
