#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "gateway/http/http_message.h"

// Cross-origin resource sharing: the headers that a browser requires before it lets a page or
// extension of another origin call the gateway. The request filter (RequestFilter) decides which
// origins are allowed.
namespace callslip::gateway {

// Lets the page at `origin`, and no other, read the response and its MCP headers.
void ShareWith(const std::string& origin, HttpResponse& response);

// The response to an OPTIONS request of an allowed origin: `methods` ("GET, POST") are served, with
// the headers that clients send.
HttpResponse PreflightResponse(const HttpRequest& request, const std::string& methods);

}  // namespace callslip::gateway
