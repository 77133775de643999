#ifndef CALLSLIP_GATEWAY_HTTP_CORS_H_
#define CALLSLIP_GATEWAY_HTTP_CORS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "gateway/http/http_message.h"

// Cross-origin resource sharing: what a browser needs to read before it lets a page or extension
// of another origin call us. The filter decide which origins these are.
namespace callslip::gateway {

// Lets the page at `origin`, and no other, read the answer and the headers of MCP in it.
void ShareWith(const std::string& origin, HttpResponse& response);

// The answer to an OPTIONS request of an allowed origin: `methods` ("GET, POST") are served, with
// the headers that clients send.
HttpResponse PreflightResponse(const HttpRequest& request, const std::string& methods);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_CORS_H_
