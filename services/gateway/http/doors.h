#ifndef CALLSLIP_GATEWAY_HTTP_DOORS_H_
#define CALLSLIP_GATEWAY_HTTP_DOORS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/address.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// What every request has to pass, whatever it asks for. Without these checks any web page that a
// user visits could send commands to the gateway on the same machine:
//   Host    must be one of ours, with its port: a page that rebinds its DNS name to 127.0.0.1
//           still sends its own name.
//   Origin  must be absent, ours, or on the list.
//   Sec-Fetch-Site must not name another site where there is no Origin: the requests that a page's
//           images and scripts make carry none, but browsers say in this header where they come
//           from. A link to the page (/ui/) may be anywhere: what it opens holds nothing.
//   Content-Type of a POST must be application/json, which a plain HTML form can't send.
class Doors {
 public:
  // Accepts `listen` itself, the loopback names with its port, and `allowed_hosts` ("name:port").
  // `allowed_origins` are compared as a whole ("chrome-extension://id").
  Doors(const Address& listen, const std::vector<std::string>& allowed_hosts,
        const std::vector<std::string>& allowed_origins);
  // The same for several addresses, over HTTPS where `is_tls` (pages of another scheme are not the
  // gateway's own). A Unix-domain socket is `localhost`.
  Doors(const std::vector<Address>& listen, const std::vector<std::string>& allowed_hosts,
        const std::vector<std::string>& allowed_origins, bool is_tls);

  // Whether its Host is one of ours: if not, it may be on its way to somebody else.
  bool IsForUs(const HttpRequest& request) const;

  // The refusal, which says what to correct, or nullopt where the request may pass.
  std::optional<HttpResponse> Check(const HttpRequest& request) const;

 private:
  bool IsAllowedOrigin(absl::string_view origin) const;

  const std::string own_scheme_;
  absl::flat_hash_set<std::string> hosts_;
  absl::flat_hash_set<std::string> origins_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_DOORS_H_
