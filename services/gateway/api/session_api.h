#pragma once

#include <memory>

#include "boost/asio/awaitable.hpp"
#include "gateway/api/session_hub.h"
#include "gateway/http/http_message.h"
#include "gateway/http/router.h"
#include "gateway/http/web_socket.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// Sessions over REST, event streams and WebSockets. Reference: docs/sessions.md.
class SessionApi {
 public:
  SessionApi(TrackerCalls* sessions, std::shared_ptr<SessionHub> hub)
      : sessions_(sessions), hub_(std::move(hub)) {}

  // `this` must outlive the router.
  void AddRoutes(Router& router) const;

 private:
  using Request = std::shared_ptr<const HttpRequest>;
  using Answer = boost::asio::awaitable<HttpResponse>;

  void AddSessions(Router& router) const;
  void AddQueue(Router& router) const;
  void AddPlayers(Router& router) const;
  void AddPermissions(Router& router) const;
  // Runners and the agents of sessions; in session_agents.cc.
  void AddAgents(Router& router) const;
  Answer CreateSession(Request request) const;
  void AddImages(Router& router) const;

  Answer ControlQueue(Request request) const;
  Answer ChangeTurn(Request request) const;

  // Images; in session_images.cc.
  Answer PutImage(Request request) const;
  Answer GetImage(Request request) const;

  // Event streams; in event_streams.cc.
  Answer ReadOrWatchEvents(Request request) const;
  Answer ReceiveMessages(Request request) const;
  Answer Play(Request request) const;

  // WebSockets; in session_sockets.cc.
  boost::asio::awaitable<void> ServeSession(Request request,
                                            std::shared_ptr<WebSocket> socket) const;
  boost::asio::awaitable<void> ServeAll(Request request, std::shared_ptr<WebSocket> socket) const;

  TrackerCalls* const sessions_;
  const std::shared_ptr<SessionHub> hub_;
};

}  // namespace callslip::gateway
