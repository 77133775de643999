#include "gateway/api/session_api.h"

#include <functional>
#include <string>
#include <utility>

#include "gateway/api/forward.h"

namespace callslip::gateway {
namespace {

template <typename Response>
Json WriteJson(const Response& response) {
  return ToJson(response);
}

Json WritePlayer(const v1::MovePlayerResponse& moved) { return ToJson(moved.player()); }

// For endpoints that answer with 204.
template <typename Response>
Json WriteNothing(const Response&) {
  return nullptr;
}

// Adds an endpoint that forwards to the call with `Request`.
template <typename Request>
void Add(Router& router, const char* method, const std::string& path, TrackerCalls* sessions,
         int status = 200,
         Json (*write)(const ResponseOf<Request>&) = WriteJson<ResponseOf<Request>>,
         RoleSet roles = {}, uint64_t body_bytes = 0) {
  if (roles.empty()) roles = std::string(method) == "GET" ? kReaders : kWriters;
  router.Add(
      method, path, roles,
      [sessions, status, write](std::shared_ptr<const HttpRequest> request) {
        return Forward<Request>(sessions, std::move(request), status, write);
      },
      body_bytes);
}

template <typename Request>
void AddDelete(Router& router, const std::string& path, TrackerCalls* sessions) {
  Add<Request>(router, "DELETE", path, sessions, 204, WriteNothing<ResponseOf<Request>>);
}

}  // namespace

void SessionApi::AddRoutes(Router& router) const {
  AddSessions(router);
  AddQueue(router);
  AddPlayers(router);
  AddPermissions(router);
  AddAgents(router);
  AddImages(router);
  router.AddWebSocket("/api/sessions/{id}/ws", kReaders,
                      std::bind_front(&SessionApi::ServeSession, this));
  router.AddWebSocket("/api/events/ws", kReaders, std::bind_front(&SessionApi::ServeAll, this));
}

void SessionApi::AddSessions(Router& router) const {
  const std::string one = "/api/sessions/{id}";
  router.Add("POST", "/api/sessions", kWriters, std::bind_front(&SessionApi::CreateSession, this));
  Add<v1::ListSessionsRequest>(router, "GET", "/api/sessions", sessions_);
  Add<v1::GetSessionRequest>(router, "GET", one, sessions_);
  Add<v1::UpdateSessionRequest>(router, "PATCH", one, sessions_);
  AddDelete<v1::DeleteSessionRequest>(router, one, sessions_);
  Add<v1::EndSessionRequest>(router, "POST", one + "/end", sessions_);
  Add<v1::ResumeSessionRequest>(router, "POST", one + "/resume", sessions_);
  Add<v1::AppendEventsRequest>(router, "POST", one + "/events", sessions_, 201, WriteJson, kWriters,
                               kLargestBodyBytes);
  Add<v1::AddAgentTextRequest>(router, "POST", one + "/agent-text", sessions_);
  router.Add("GET", one + "/events", kReaders,
             std::bind_front(&SessionApi::ReadOrWatchEvents, this));
}

void SessionApi::AddQueue(Router& router) const {
  const std::string session = "/api/sessions/{id}";
  const std::string queue = session + "/queue";
  const std::string message = queue + "/{msg_id}";
  Add<v1::ListMessagesRequest>(router, "GET", queue, sessions_);
  Add<v1::AddMessageRequest>(router, "POST", queue, sessions_, 201, QueuedJson);
  AddDelete<v1::ClearMessagesRequest>(router, queue, sessions_);
  Add<v1::PopMessageRequest>(router, "POST", queue + "/pop", sessions_);
  Add<v1::GetMessageRequest>(router, "GET", message, sessions_);
  Add<v1::EditMessageRequest>(router, "PATCH", message, sessions_);
  AddDelete<v1::DeleteMessageRequest>(router, message, sessions_);
  Add<v1::MoveMessageRequest>(router, "POST", message + "/move", sessions_);
  Add<v1::GetQueueStatusRequest>(router, "GET", session + "/queue-settings", sessions_);
  Add<v1::ConfigureQueueRequest>(router, "PUT", session + "/queue-settings", sessions_);
  router.Add("POST", session + "/queue-control", kWriters,
             std::bind_front(&SessionApi::ControlQueue, this));
  Add<v1::StopTurnRequest>(router, "POST", session + "/stop", sessions_);
  // Its images become part of an event.
  Add<v1::StartTurnRequest>(router, "POST", session + "/turns", sessions_, 201, WriteJson, kWriters,
                            kLargestBodyBytes);
  router.Add("POST", session + "/turns/{turn_id}", kWriters,
             std::bind_front(&SessionApi::ChangeTurn, this));
  // Writers only, because the receiver is responsible for sending the messages.
  router.Add("GET", session + "/messages", kWriters,
             std::bind_front(&SessionApi::ReceiveMessages, this));
}

void SessionApi::AddPlayers(Router& router) const {
  const std::string player = "/api/players/{player_id}";
  // A player belongs to its caller: readers may play too.
  Add<v1::OpenPlayerRequest>(router, "POST", "/api/sessions/{id}/players", sessions_, 201,
                             WriteJson, kReaders);
  Add<v1::ClosePlayerRequest>(router, "DELETE", player, sessions_, 204, WriteNothing, kReaders);
  router.Add("GET", player, kReaders, [sessions = sessions_](std::shared_ptr<HttpRequest> request) {
    // Reads the player without moving it.
    request->parameters["move"] = "peek";
    return Forward<v1::MovePlayerRequest>(sessions, std::move(request), 200, WritePlayer);
  });
  router.Add("GET", player + "/play", kReaders, std::bind_front(&SessionApi::Play, this));
  Add<v1::MovePlayerRequest>(router, "POST", player + "/{move}", sessions_, 200, WriteJson,
                             kReaders);
}

void SessionApi::AddPermissions(Router& router) const {
  const std::string permissions = "/api/sessions/{id}/permissions";
  Add<v1::ListPermissionsRequest>(router, "GET", permissions, sessions_);
  Add<v1::AskPermissionRequest>(router, "POST", permissions, sessions_);
  Add<v1::CancelPermissionsRequest>(router, "DELETE", permissions, sessions_);
  Add<v1::AnswerPermissionRequest>(router, "POST", permissions + "/{permission_id}", sessions_);
}

void SessionApi::AddImages(Router& router) const {
  const std::string images = "/api/sessions/{id}/images";
  router.Add("POST", images, kWriters, std::bind_front(&SessionApi::PutImage, this),
             kImageBodyBytes);
  router.Add("GET", images + "/{image_id}", kReaders, std::bind_front(&SessionApi::GetImage, this));
}

SessionApi::Answer SessionApi::ControlQueue(Request request) const {
  JsonFields fields = JsonFields::OfBody(request->body);
  const std::string action = fields.Choice("action", {"pause", "resume", "retry", "skip"});
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  if (action == "pause") {
    co_return co_await Forward<v1::PauseQueueRequest>(sessions_, std::move(request), 200,
                                                      WriteJson<v1::QueueStatus>);
  }
  co_return co_await Forward<v1::ResumeQueueRequest>(sessions_, std::move(request), 200,
                                                     WriteJson<v1::QueueStatus>);
}

SessionApi::Answer SessionApi::ChangeTurn(Request request) const {
  JsonFields fields = JsonFields::OfBody(request->body);
  const std::string action = fields.Choice("action", {"start", "finish"});
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  if (action == "start") {
    co_return co_await Forward<v1::StartTurnRequest>(sessions_, std::move(request), 200,
                                                     WriteJson<v1::StartTurnResponse>);
  }
  co_return co_await Forward<v1::FinishTurnRequest>(sessions_, std::move(request), 200,
                                                    WriteJson<v1::QueueStatus>);
}

}  // namespace callslip::gateway
