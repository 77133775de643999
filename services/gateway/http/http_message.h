#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "auth/credentials.h"
#include "auth/principal.h"
#include "boost/asio/awaitable.hpp"
#include "common/trace_context.h"

namespace callslip::gateway {

struct Caller;
struct WebSocketUpgrade;

// By lower-case name. Different values of one name are joined as one list, with "," between them
// (RFC 9110, section 5.3); those of `cookie` with "; ".
using HttpHeaders = std::map<std::string, std::string, std::less<>>;

// A request as handlers see it, independent of the HTTP server.
struct HttpRequest {
  std::string method;                        // Upper case.
  std::string path;                          // Without the query, percent-decoded.
  std::string raw_path;                      // The path as received.
  std::string target;                        // Path and query, as received.
  std::map<std::string, std::string> query;  // Percent-decoded; the first one of equal names.
  HttpHeaders headers;
  std::string body;
  // The body's share of the byte budget of all bodies, held until the request has ended. Null if
  // the body arrived with its head.
  std::shared_ptr<void> body_place;
  // The listener that accepted the request, as passed to HttpServer::Listen(). Set by the
  // connection.
  size_t listener = 0;
  // The AddressKey() of the client, as TrustedProxies::ClientOf() returns it. Set by the
  // connection.
  std::string address;
  // The alternative names in the peer's verified certificate. Null without a certificate. Set by
  // the connection.
  std::shared_ptr<const std::vector<std::string>> peer_names;
  // The sender, if identified before the body was read. Set by the router for its own use.
  std::shared_ptr<const Caller> caller;
  // The caller and its credential; the credential is null if none was required. Set by the router.
  Principal principal;
  CredentialPtr credential;
  // The values of the {names} in the route's path, percent-decoded. Set by the router.
  std::map<std::string, std::string> parameters;

  // Empty if absent. Lives as long as the request.
  const std::string& Header(absl::string_view lower_case_name) const;
  const std::string& Query(const std::string& name) const;
  const std::string& Parameter(const std::string& name) const;
};

// Writes a body piece by piece, in chunked transfer coding, as it is produced.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;

  // Returns when the piece has been handed to the kernel, so that a slow peer slows its producer
  // down. One piece at a time; an empty one writes nothing. Throws if the peer has left
  // (boost::system::system_error, operation_aborted), as a canceled await does.
  virtual boost::asio::awaitable<void> Write(std::string piece) = 0;

  // Declares that `bytes` more bytes wait for the next pieces. False, with the previous number
  // kept, if the budget for data that peers have not read does not allow it.
  virtual bool Hold(size_t bytes) = 0;
};

// The response of a handler. The server adds the headers for the body's length and for keeping the
// connection open.
struct HttpResponse {
  int status = 200;
  std::string body;
  // A literal. Omitted if the body is empty.
  absl::string_view content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  // If set, `body` is not used: the headers are sent at once, then the producer runs, and its end
  // is the end of the body. Canceled when the peer leaves. An exception breaks the body off, so
  // that the peer sees it as incomplete. A HEAD request is answered without running it.
  std::function<boost::asio::awaitable<void>(BodyWriter&)> stream;
  // For an error: its code, as in the body; and the caller that is refused, if known.
  std::string error;
  std::shared_ptr<const Principal> refused;
  // The span of the request, if recorded. Set by the router.
  TraceContext span;
  // If set, the response is 101 and the connection becomes a WebSocket; nothing else is used.
  std::shared_ptr<const WebSocketUpgrade> upgrade;
};

// `text` with each %XX decoded to its byte. Nullopt if it is malformed or not UTF-8.
std::optional<std::string> PercentDecode(absl::string_view text, bool plus_is_space);

// Splits `target` ("/path?a=1&b=2") into path and query of `request`. If it is absolute, as proxies
// receive it ("http://host:port/path"), its host replaces any Host header (RFC 9112, section
// 3.2.2). False if it is neither, or if its percent-encoding is malformed.
bool ParseTarget(absl::string_view target, HttpRequest& request);

// Frees a request that has been parsed. Keep the returned object until there is a response: it
// holds the body's place in the budget, because the data parsed from the body is as large.
inline std::shared_ptr<void> LeaveBody(std::shared_ptr<const HttpRequest>& request) {
  std::shared_ptr<void> place = request->body_place;
  request = nullptr;
  return place;
}

}  // namespace callslip::gateway
