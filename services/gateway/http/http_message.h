#ifndef CALLSLIP_GATEWAY_HTTP_HTTP_MESSAGE_H_
#define CALLSLIP_GATEWAY_HTTP_HTTP_MESSAGE_H_

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

// By their names in lower case. Different values of one name are one list, with "," between
// them (RFC 9110, section 5.3); those of `cookie` with "; ".
using HttpHeaders = std::map<std::string, std::string, std::less<>>;

// A request as handlers see it: what any HTTP server could hand them.
struct HttpRequest {
  std::string method;                        // Upper case.
  std::string path;                          // Without the query, percent-decoded.
  std::string raw_path;                      // The same as it came.
  std::string target;                        // Path and query, as they came.
  std::map<std::string, std::string> query;  // Percent-decoded; the first of equal names.
  HttpHeaders headers;
  std::string body;
  // What the body takes of what all bodies may, until the request has ended. Null where it came
  // with its head.
  std::shared_ptr<void> body_place;
  // Which of the server's listeners it came by, as HttpServer::Listen() was told. Set by the
  // connection.
  size_t listener = 0;
  // The AddressKey() of who asks, as TrustedProxies::ClientOf() has it. Set by the connection.
  std::string address;
  // The alternative names in the certificate that the peer has shown, and that was checked. Null
  // where there is none. Set by the connection.
  std::shared_ptr<const std::vector<std::string>> peer_names;
  // Who sends it, where that was worked out before its body was read. Set by the router, for
  // itself.
  std::shared_ptr<const Caller> caller;
  // Who calls, and what by: null where nothing had to be shown. Set by the router.
  Principal principal;
  CredentialPtr credential;
  // What the path has for the {names} of its route, percent-decoded; set by the router.
  std::map<std::string, std::string> parameters;

  // Empty where it is absent. Lives as long as the request.
  const std::string& Header(absl::string_view lower_case_name) const;
  const std::string& Query(const std::string& name) const;
  const std::string& Parameter(const std::string& name) const;
};

// Writes a body piece by piece, in chunked transfer coding, as it comes into being.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;

  // Returns when the piece was handed to the kernel: a peer that reads slowly slows its producer
  // down. One piece at a time; an empty one writes nothing. Throws where the peer has left
  // (boost::system::system_error, operation_aborted), as a cancelled await does.
  virtual boost::asio::awaitable<void> Write(std::string piece) = 0;

  // That so many bytes wait beside that piece, for the next ones. False, with as many as before,
  // where there is no room for them among all that peers have not taken.
  virtual bool Hold(size_t bytes) = 0;
};

// What a handler answers. The server adds the headers that tell the body's length and whether the
// connection is kept.
struct HttpResponse {
  int status = 200;
  std::string body;
  // A literal. Left out where the body is empty.
  absl::string_view content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  // Where set, `body` is not used: the headers go out at once, then the producer runs, its end is
  // the body's end. Cancelled when the peer leaves. An exception tears the body, so that the peer
  // sees it incomplete. A HEAD request is answered without running it.
  std::function<boost::asio::awaitable<void>(BodyWriter&)> stream;
  // Of an error: its code, as in the body; and whose request it refuses, where that is known.
  std::string error;
  std::shared_ptr<const Principal> refused;
  // The span of the request, where it is recorded; set by the router.
  TraceContext span;
  // Where set, the answer is 101 and the connection becomes a WebSocket; nothing else is used.
  std::shared_ptr<const WebSocketUpgrade> upgrade;
};

// `text` with each %XX as the byte that it stands for. Nullopt where it is malformed or no UTF-8.
std::optional<std::string> PercentDecode(absl::string_view text, bool plus_is_space);

// Splits `target` ("/path?a=1&b=2") into path and query of `request`. Where it is absolute, as
// proxies get it ("http://host:port/path"), the header Host becomes its host, whatever was sent
// there (RFC 9112, section 3.2.2). False where it is neither, or its percent-encoding is broken.
bool ParseTarget(absl::string_view target, HttpRequest& request);

// What was sent is read, and needs no memory any more. What is returned, to be kept until there is
// an answer, holds the place of its body: what was made of it is as large.
inline std::shared_ptr<void> LeaveBody(std::shared_ptr<const HttpRequest>& request) {
  std::shared_ptr<void> place = request->body_place;
  request = nullptr;
  return place;
}

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_HTTP_MESSAGE_H_
