#include "gateway/http/doors.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {

Doors::Doors(const Address& listen, const std::vector<std::string>& allowed_hosts) {
  hosts_.insert(listen.ToString());
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    hosts_.insert(absl::StrCat(name, ":", listen.port));
  }
  for (const std::string& host : allowed_hosts) hosts_.insert(absl::AsciiStrToLower(host));
}

std::optional<HttpResponse> Doors::Check(const HttpRequest& request) const {
  const std::string host = absl::AsciiStrToLower(request.Header("host"));
  if (!hosts_.contains(host)) {
    return ErrorResponse(403, "host_not_allowed",
                         absl::StrCat("The Host header \"", host, "\" is not one of ours."),
                         "Use the address the gateway printed, or add this one, with its port, to "
                         "--allowed-hosts.");
  }
  if (const auto it = request.headers.find("origin"); it != request.headers.end()) {
    absl::string_view origin = it->second;
    const bool extension = absl::StartsWith(origin, "chrome-extension://") ||
                           absl::StartsWith(origin, "moz-extension://");
    const bool own = absl::ConsumePrefix(&origin, "http://") && hosts_.contains(origin);
    if (!extension && !own) {
      return ErrorResponse(
          403, "origin_not_allowed",
          absl::StrCat("Requests from the origin \"", it->second, "\" are not accepted."),
          "Only browser extensions and the gateway's own pages may call it.");
    }
  }
  const std::string site = request.Header("sec-fetch-site");
  if (site == "cross-site" || site == "same-site") {
    return ErrorResponse(403, "site_not_allowed", "Requests from other sites are not accepted.",
                         "Only browser extensions and the gateway's own pages may call it.");
  }
  if (request.method == "POST") {
    const std::vector<std::string> parts = absl::StrSplit(request.Header("content-type"), ';');
    if (absl::AsciiStrToLower(absl::StripAsciiWhitespace(parts[0])) != "application/json") {
      return ErrorResponse(415, "unsupported_media_type", "The body must be JSON.",
                           "Send Content-Type: application/json.");
    }
  }
  return std::nullopt;
}

}  // namespace callslip::gateway
