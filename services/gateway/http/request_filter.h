#ifndef CALLSLIP_GATEWAY_HTTP_REQUEST_FILTER_H_
#define CALLSLIP_GATEWAY_HTTP_REQUEST_FILTER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/address.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// What every request has to pass, whatever it asks for. Without these checks any web page that a
// user visits could send commands to the gateway on the same machine:
//   Host    must be one of the listener's that it came by, with its port: a page that rebinds its
//           DNS name to 127.0.0.1 still sends its own name.
//   Origin  must be absent, on the list, or of a page that this listener serves.
//   Sec-Fetch-Site must not name another site where there is no Origin: the requests that a page's
//           images and scripts make carry none, but browsers say in this header where they come
//           from. A link to the page (/ui/) may be anywhere: what it opens holds nothing.
//   Content-Type of a POST must be application/json, which a plain HTML form can't send.
class RequestFilter {
 public:
  // Accepts the listener's address itself, the loopback names with its port, and `allowed_hosts`
  // ("name:port"); over HTTPS where `is_tls` (pages of another scheme are not the gateway's own).
  // A Unix-domain socket is `localhost`, where no browser gets a page. `allowed_origins` are
  // compared as a whole ("chrome-extension://id"). `listen` are the listeners by
  // HttpRequest::listener.
  RequestFilter(const std::vector<Address>& listen, const std::vector<std::string>& allowed_hosts,
                const std::vector<std::string>& allowed_origins, bool is_tls = false);

  // Whether its Host is one of ours: if not, it may be on its way to somebody else.
  bool IsForUs(const HttpRequest& request) const;

  // The refusal, which says what to correct, or nullopt where the request may pass.
  std::optional<HttpResponse> Check(const HttpRequest& request) const;

 private:
  struct Listener {
    absl::flat_hash_set<std::string> hosts;
    absl::flat_hash_set<std::string> origins;
  };

  std::vector<Listener> listeners_;  // By listener.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_REQUEST_FILTER_H_
