#include "gateway/api/who_am_i.h"

#include <memory>
#include <string>

#include "common/version.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

void AddWhoAmI(Router& router, bool tokens, const std::string& extension_dir) {
  const HttpHandler answer =
      [tokens, extension_dir](
          std::shared_ptr<HttpRequest> request) -> boost::asio::awaitable<HttpResponse> {
    const Principal& who = request->principal;
    Json body = {{"name", who.name},
                 {"role", std::string(RoleName(who.role))},
                 {"may_act", MaySubmit(who.role)},
                 {"sees_all_clients", SeesAllClients(who.role)},
                 {"tokens", tokens},
                 {"version", kVersion}};
    if (!extension_dir.empty()) body["extension_dir"] = extension_dir;
    co_return HttpResponse{.body = Dump(body)};
  };
  router.Add("GET", "/api/me", kReaders, answer);
}

}  // namespace callslip::gateway
