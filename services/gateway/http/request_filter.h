#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/address.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// The request filter that every request must pass. Without these checks, any web page that a user
// visits could send commands to the gateway on the same machine:
//   Host    must be one of the hosts of the request's listener, with its port: a page that rebinds
//           its DNS name to 127.0.0.1 still sends its own name.
//   Origin  must be absent, on the list, or that of a page that this listener serves.
//   Sec-Fetch-Site must not name another site if there is no Origin: requests for a page's images
//           and scripts carry no Origin, but browsers send in this header where they come from. A
//           link to the page (/ui/) is allowed anywhere, because the page itself holds no data.
//   Content-Type of a POST must be application/json, or image/* at a path that ends in /images. A
//           plain HTML form can send neither.
class RequestFilter {
 public:
  // Accepts the listener's own address, the loopback names that lead to it, with its port, and
  // `allowed_hosts` ("name:port"); over HTTPS if `is_tls` (pages of another scheme are not the
  // gateway's own). A Unix-domain socket is `localhost` and serves no pages to browsers.
  // `allowed_origins` must match completely ("chrome-extension://id"). `listen` has the listeners
  // by HttpRequest::listener.
  RequestFilter(const std::vector<Address>& listen, const std::vector<std::string>& allowed_hosts,
                const std::vector<std::string>& allowed_origins, bool is_tls = false);

  // Whether the Host is one of the gateway's: if not, the request may be meant for another server.
  bool IsForUs(const HttpRequest& request) const;

  // The refusal, which states what to correct, or nullopt if the request passes.
  std::optional<HttpResponse> Check(const HttpRequest& request) const;

 private:
  struct Listener {
    absl::flat_hash_set<std::string> hosts;
    absl::flat_hash_set<std::string> origins;
  };

  std::vector<Listener> listeners_;  // By listener.
};

}  // namespace callslip::gateway
