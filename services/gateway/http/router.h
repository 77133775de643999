#ifndef CALLSLIP_GATEWAY_HTTP_ROUTER_H_
#define CALLSLIP_GATEWAY_HTTP_ROUTER_H_

#include <map>
#include <memory>
#include <string>

#include "gateway/http/doors.h"
#include "gateway/http/http_server.h"

namespace callslip::gateway {

// Finds the handler for a method and path, behind the doors that every request has to pass. 404
// for an unknown path; 405, with the methods that exist, for an unknown method. HEAD is not
// served.
class Router {
 public:
  explicit Router(Doors doors) : doors_(std::move(doors)) {}

  // `path` is matched whole. To be called before the first request.
  void Add(const std::string& method, const std::string& path, HttpHandler handler);

  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  const Doors doors_;
  std::map<std::string, std::map<std::string, HttpHandler>> routes_;  // By path, then method.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_ROUTER_H_
