#include "gateway/http/request_filter.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "boost/asio/ip/address.hpp"
#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

namespace ip = boost::asio::ip;

HttpResponse OriginRefusal(absl::string_view origin) {
  const bool extension = absl::StartsWith(origin, "chrome-extension://") ||
                         absl::StartsWith(origin, "moz-extension://");
  return ErrorResponse(403, "origin_not_allowed",
                       absl::StrCat("Requests from the origin \"", origin, "\" are not accepted."),
                       extension
                           ? absl::StrCat("If this is your extension, start the gateway with "
                                          "--allowed-origins=",
                                          origin, ".")
                           : "Pages must be the gateway's own or be named in --allowed-origins.");
}

// The names of this machine that lead to a listener on `host`. At the other ones, another program
// may listen on the same port.
std::vector<absl::string_view> LoopbackNames(const std::string& host) {
  boost::system::error_code error;
  // As Listener resolves it.
  const auto ip = ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) return {};
  if (ip == ip::address_v4::loopback()) return {"127.0.0.1", "localhost"};
  if (ip == ip::address_v6::loopback()) return {"[::1]", "localhost"};
  // Containers listen so, behind both addresses of their host.
  if (ip.is_unspecified()) return {"127.0.0.1", "localhost", "[::1]"};
  return {};
}

// Whether the request follows a link to the page, or to a place in it.
bool OpensPage(const HttpRequest& request) {
  const std::string& path = request.path;
  return (request.method == "GET" || request.method == "HEAD") &&
         request.Header("sec-fetch-mode") == "navigate" &&
         request.Header("sec-fetch-dest") == "document" &&
         (path == "/" || path == "/ui" || absl::StartsWith(path, "/ui/"));
}

}  // namespace

RequestFilter::RequestFilter(const std::vector<Address>& listen,
                             const std::vector<std::string>& allowed_hosts,
                             const std::vector<std::string>& allowed_origins, bool is_tls) {
  const absl::string_view scheme = is_tls ? "https://" : "http://";
  for (const Address& address : listen) {
    Listener& listener = listeners_.emplace_back();
    for (const std::string& host : allowed_hosts)
      listener.hosts.insert(absl::AsciiStrToLower(host));
    if (!address.is_unix()) {
      const std::string text = absl::AsciiStrToLower(address.ToString());
      listener.hosts.insert(text);
      // Clients omit the default port.
      if (address.port == (is_tls ? 443 : 80))
        listener.hosts.insert(text.substr(0, text.rfind(':')));
      for (const absl::string_view name : LoopbackNames(address.host)) {
        listener.hosts.insert(absl::StrCat(name, ":", address.port));
      }
    }
    for (const std::string& host : listener.hosts)
      listener.origins.insert(absl::StrCat(scheme, host));
    listener.origins.insert(allowed_origins.begin(), allowed_origins.end());
    // For clients only: a page at http://localhost is never served by this socket.
    if (address.is_unix()) listener.hosts.insert("localhost");
  }
}

bool RequestFilter::IsForUs(const HttpRequest& request) const {
  return listeners_.at(request.listener)
      .hosts.contains(absl::AsciiStrToLower(request.Header("host")));
}

std::optional<HttpResponse> RequestFilter::Check(const HttpRequest& request) const {
  if (!IsForUs(request)) {
    const std::string host = absl::AsciiStrToLower(request.Header("host"));
    return ErrorResponse(
        403, "host_not_allowed",
        absl::StrCat("The Host header \"", host, "\" is not a host of this gateway."),
        "Use the address the gateway printed, or add this one, with its port, to "
        "--allowed-hosts.");
  }
  if (const auto origin = request.headers.find("origin"); origin != request.headers.end()) {
    if (!listeners_.at(request.listener).origins.contains(origin->second)) {
      return OriginRefusal(origin->second);
    }
  } else if (const std::string& site = request.Header("sec-fetch-site");
             !site.empty() && site != "same-origin" && site != "none" && !OpensPage(request)) {
    return ErrorResponse(403, "site_not_allowed", "Requests from other sites are not accepted.",
                         "Pages must be the gateway's own or be named in --allowed-origins.");
  }
  if (request.method == "POST") {
    const absl::string_view content_type = request.Header("content-type");
    const absl::string_view media_type = content_type.substr(0, content_type.find(';'));
    // Pages of other sites can send neither of these types without a preflight.
    const bool is_image =
        absl::EndsWith(request.path, "/images") && absl::StartsWithIgnoreCase(media_type, "image/");
    if (!is_image &&
        !absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(media_type), "application/json")) {
      return ErrorResponse(415, "unsupported_media_type", "The body must be JSON.",
                           "Send Content-Type: application/json.");
    }
  }
  return std::nullopt;
}

}  // namespace callslip::gateway
