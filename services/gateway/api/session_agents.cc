// Lists the agents, and controls those of sessions.
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/this_coro.hpp"
#include "gateway/api/forward.h"
#include "gateway/api/session_api.h"
#include "gateway/json/json_fields.h"
#include "gateway/json/runner_json.h"
#include "gateway/tracker_client/request_about.h"
#include "rpc_client/deadlines.h"

namespace callslip::gateway {
namespace {

using HttpRequestPtr = std::shared_ptr<const HttpRequest>;

// The tracker's 8 s wait for a runner, plus kRpcMargin.
constexpr absl::Duration kControlDeadline = absl::Seconds(9);

v1::AgentAction ActionOf(const std::string& action) {
  if (action == "start") return v1::AGENT_ACTION_START;
  if (action == "stop") return v1::AGENT_ACTION_STOP;
  return action == "restart" ? v1::AGENT_ACTION_RESTART : v1::AGENT_ACTION_FRESH;
}

absl::StatusOr<v1::AgentControl> ActionFrom(const HttpRequest& http) {
  JsonFields fields = JsonFields::OfBody(http.body);
  const std::string action = fields.Choice("action", {"start", "stop", "restart", "fresh"});
  if (!fields.status().ok()) return fields.status();
  v1::AgentControl control;
  control.set_action(ActionOf(action));
  return control;
}

absl::StatusOr<v1::AgentControl> ConfigFrom(const HttpRequest& http) {
  JsonFields fields = JsonFields::OfBody(http.body);
  v1::AgentControl control;
  if (fields.Has("mode_id") == fields.Has("option_id")) {
    fields.Fail("either \"mode_id\" or \"option_id\" is required");
  } else if (fields.Has("mode_id")) {
    control.set_mode_id(fields.Text("mode_id"));
  } else {
    if (!fields.Has("value")) fields.Fail("\"value\" is required");
    control.mutable_config_option()->set_id(fields.Text("option_id"));
    control.mutable_config_option()->set_value(fields.Text("value"));
  }
  if (!fields.status().ok()) return fields.status();
  return control;
}

// Applies `control` to the agent of the session that the path names.
boost::asio::awaitable<HttpResponse> Control(TrackerCalls* sessions, HttpRequestPtr http,
                                             absl::StatusOr<v1::AgentControl> control) {
  if (!control.ok()) co_return ErrorResponse(control.status());
  auto request =
      RequestAbout<v1::ControlAgentRequest>(OnBehalfOf(http->principal), http->Parameter("id"));
  *request.mutable_control() = *std::move(control);
  const std::shared_ptr<void> place = LeaveBody(http);
  const auto state = co_await sessions->Call(std::move(request), {.deadline = kControlDeadline});
  if (!state.ok()) co_return ErrorResponse(state.status());
  co_return HttpResponse{.body = Dump(ToJson(*state))};
}

// Has no effect if no runner can start the agent; the session shows the agent's state.
boost::asio::awaitable<void> Start(TrackerCalls* sessions, v1::ControlAgentRequest request) {
  const auto state = co_await sessions->Call(std::move(request), {.deadline = kControlDeadline});
  (void)state;
}

}  // namespace

void SessionApi::AddAgents(Router& router) const {
  const auto list = [&](const char* path, Json (*write)(const v1::ListRunnersResponse&)) {
    router.Add("GET", path, kReaders, [sessions = sessions_, write](Request request) {
      return Forward<v1::ListRunnersRequest>(sessions, std::move(request), 200, write);
    });
  };
  list("/api/runners", RunnersJson);
  list("/api/agents", AgentsJson);
  list("/api/workspaces", WorkspacesJson);
  router.Add("POST", "/api/sessions/{id}/agent", kWriters, [this](Request request) {
    absl::StatusOr<v1::AgentControl> control = ActionFrom(*request);
    return Control(sessions_, std::move(request), std::move(control));
  });
  router.Add("POST", "/api/sessions/{id}/config", kWriters, [this](Request request) {
    absl::StatusOr<v1::AgentControl> control = ConfigFrom(*request);
    return Control(sessions_, std::move(request), std::move(control));
  });
}

SessionApi::Answer SessionApi::CreateSession(Request http) const {
  JsonFields fields = JsonFields::OfBody(http->body);
  const bool is_to_start = fields.Boolean("start").value_or(true);
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  absl::StatusOr<v1::CreateSessionRequest> request = RequestOf<v1::CreateSessionRequest>(*http);
  if (!request.ok()) co_return ErrorResponse(request.status());
  const std::string client_id = OnBehalfOf(http->principal);
  const std::shared_ptr<void> place = LeaveBody(http);
  const auto session = co_await sessions_->Call(*std::move(request));
  if (!session.ok()) co_return ErrorResponse(session.status());
  if (is_to_start && !session->acp_server().empty()) {
    auto start = RequestAbout<v1::ControlAgentRequest>(client_id, session->session_id());
    start.mutable_control()->set_action(v1::AGENT_ACTION_START);
    const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
    boost::asio::co_spawn(executor, Start(sessions_, std::move(start)), boost::asio::detached);
  }
  co_return HttpResponse{.status = 201, .body = Dump(ToJson(*session))};
}

}  // namespace callslip::gateway
