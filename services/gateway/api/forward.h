#pragma once

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/http/error_response.h"
#include "gateway/http/http_message.h"
#include "gateway/json/session_json.h"
#include "rpc_client/tracker_calls.h"

// REST endpoints that forward to a single call of the tracker.
namespace callslip::gateway {

// The tracker request for `http`: the client is its principal, the ids come from its path, the rest
// from its body or, for GET and DELETE, from its query. INVALID_ARGUMENT if these do not fit.
template <typename Request>
absl::StatusOr<Request> RequestOf(const HttpRequest& http) {
  Request request;
  if constexpr (requires { request.set_client_id(""); }) {
    request.set_client_id(OnBehalfOf(http.principal));
  }
  if constexpr (requires { request.set_session_id(""); }) {
    request.set_session_id(http.Parameter("id"));
  }
  if constexpr (requires { request.set_message_id(""); }) {
    request.set_message_id(http.Parameter("msg_id"));
  }
  if constexpr (requires { request.set_turn_id(""); }) {
    request.set_turn_id(http.Parameter("turn_id"));
  }
  if constexpr (requires { request.set_permission_id(""); }) {
    request.set_permission_id(http.Parameter("permission_id"));
  }
  if constexpr (requires { request.set_player_id(""); }) {
    request.set_player_id(http.Parameter("player_id"));
  }
  if constexpr (requires(JsonFields fields) { ReadFields(fields, request); }) {
    const bool in_query = http.method == "GET" || http.method == "DELETE";
    JsonFields fields = in_query ? JsonFields::OfQuery(http.query) : JsonFields::OfBody(http.body);
    fields.Add(http.parameters);
    ReadFields(fields, request);
    if (!fields.status().ok()) return fields.status();
  }
  return request;
}

// Makes the call, and answers with `status` and the response as converted by `write`. 204 has no
// body.
template <typename Request>
boost::asio::awaitable<HttpResponse> Forward(TrackerCalls* sessions,
                                             std::shared_ptr<const HttpRequest> http, int status,
                                             Json (*write)(const ResponseOf<Request>&)) {
  absl::StatusOr<Request> request = RequestOf<Request>(*http);
  if (!request.ok()) co_return ErrorResponse(request.status());
  const std::shared_ptr<void> place = LeaveBody(http);
  const auto response = co_await sessions->Call(*std::move(request));
  if (!response.ok()) co_return ErrorResponse(response.status());
  HttpResponse answer{.status = status};
  if (status != 204) answer.body = Dump(write(*response));
  co_return answer;
}

}  // namespace callslip::gateway
