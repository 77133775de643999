#include "gateway/http/page_check.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/address.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

// For a Host header, which may lack a port.
bool IsLoopbackHost(const std::string& host) {
  if (absl::EqualsIgnoreCase(host, "localhost")) return true;  // Over a Unix-domain socket, too.
  absl::StatusOr<Address> address = ParseAddress(host);
  if (!address.ok()) address = ParseAddress(absl::StrCat(host, ":80"));
  return address.ok() && address->IsLoopback();
}

}  // namespace

std::optional<HttpResponse> ExcludePages(const HttpRequest& request) {
  const bool says_whence =
      request.headers.contains("origin") || request.headers.contains("sec-fetch-site") ||
      absl::StartsWithIgnoreCase(request.Header("content-type"), "application/json") ||
      absl::StartsWithIgnoreCase(request.Header("content-type"), "image/");
  if (says_whence || request.principal.role != Role::kLocal ||
      IsLoopbackHost(request.Header("host"))) {
    return std::nullopt;
  }
  return ErrorResponse(403, "page_not_excluded",
                       "Without tokens, over plain HTTP from another machine, this may be a web "
                       "page's request.",
                       "Send Content-Type: application/json, or have the gateway ask for tokens "
                       "(--token-file).");
}

}  // namespace callslip::gateway
