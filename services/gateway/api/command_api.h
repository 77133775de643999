#pragma once

#include <memory>
#include <utility>

#include "boost/asio/awaitable.hpp"
#include "gateway/api/command_hub.h"
#include "gateway/http/http_message.h"
#include "gateway/http/router.h"
#include "gateway/http/web_socket.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// Commands over REST, for pages and programs. Reference: docs/http.md, "Commands".
class CommandApi {
 public:
  CommandApi(TrackerClient* tracker, std::shared_ptr<CommandHub> hub)
      : tracker_(tracker), hub_(std::move(hub)) {}

  // `this` must outlive the router.
  void AddRoutes(Router& router) const;

 private:
  using Request = std::shared_ptr<const HttpRequest>;
  using Answer = boost::asio::awaitable<HttpResponse>;

  Answer List(Request request) const;
  Answer Register(Request request) const;
  Answer Get(Request request) const;
  Answer GetResult(Request request) const;
  Answer Cancel(Request request) const;
  Answer Replay(Request request) const;
  boost::asio::awaitable<void> ServeChanges(Request request,
                                            std::shared_ptr<WebSocket> socket) const;

  TrackerClient* const tracker_;
  const std::shared_ptr<CommandHub> hub_;
};

}  // namespace callslip::gateway
