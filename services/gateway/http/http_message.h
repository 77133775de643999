#ifndef CALLSLIP_GATEWAY_HTTP_HTTP_MESSAGE_H_
#define CALLSLIP_GATEWAY_HTTP_HTTP_MESSAGE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// A request as handlers see it: what any HTTP server could hand them.
struct HttpRequest {
  std::string method;                          // Upper case.
  std::string path;                            // Without the query, percent-decoded.
  std::map<std::string, std::string> query;    // Percent-decoded; the first of equal names.
  std::map<std::string, std::string> headers;  // Names in lower case; the first of equal names.
  std::string body;

  // Empty where it is absent.
  std::string Header(const std::string& lower_case_name) const;
  std::string Query(const std::string& name) const;
};

// What a handler answers. The server adds Content-Length and connection headers.
struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";  // Left out where the body is empty.
  std::vector<std::pair<std::string, std::string>> headers;
};

// Splits `target` ("/path?a=1&b=2") into path and query of `request`. False where its
// percent-encoding is broken.
bool ParseTarget(absl::string_view target, HttpRequest& request);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_HTTP_MESSAGE_H_
