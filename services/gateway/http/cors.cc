#include "gateway/http/cors.h"

namespace callslip::gateway {

void ShareWith(const std::string& origin, HttpResponse& response) {
  response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  response.headers.emplace_back("Access-Control-Expose-Headers",
                                "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, "
                                "Callslip-Proof");
  response.headers.emplace_back("Vary", "Origin");
}

HttpResponse PreflightResponse(const HttpRequest& request, const std::string& methods) {
  HttpResponse response{.status = 204};
  response.headers = {{"Access-Control-Allow-Methods", methods},
                      {"Access-Control-Allow-Headers",
                       "content-type, authorization, mcp-protocol-version, mcp-session-id, "
                       "mcp-method, mcp-name, last-event-id, traceparent, tracestate, baggage, "
                       "x-gasoline-client, "
                       "x-gasoline-extension-version, x-kaboom-client, "
                       "x-kaboom-extension-version"},
                      // The longest time that Chromium caches it.
                      {"Access-Control-Max-Age", "7200"}};
  // A page from a public network sends this before it calls a private address.
  if (request.Header("access-control-request-private-network") == "true") {
    response.headers.emplace_back("Access-Control-Allow-Private-Network", "true");
  }
  return response;
}

}  // namespace callslip::gateway
