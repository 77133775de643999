#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/server/call_context.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// Answers a call with what `call` returns for a session of `clients`: a StatusOr of the response,
// or of what Fill() converts to it.
template <typename Response, typename Call>
void AnswerFrom(SessionCaller& sessions, const ClientScope& clients, const std::string& session_id,
                const Reply<Response>& reply, Call call) {
  using T = typename std::invoke_result_t<Call&, Session&, absl::Time>::value_type;
  sessions.With<T>(clients, session_id, std::move(call), [reply](absl::StatusOr<T> result) {
    if (!result.ok()) return reply->Fail(result.status());
    if constexpr (std::is_same_v<T, Response>) {
      reply->Finish(*std::move(result), [] {});
    } else {
      Response response;
      Fill(*result, response);
      reply->Finish(std::move(response), [] {});
    }
  });
}

// For the session that `request` names.
template <typename Request, typename Response, typename Call>
void AnswerFrom(SessionCaller& sessions, const CallContext& caller, const Request& request,
                const Reply<Response>& reply, Call call) {
  AnswerFrom(sessions, caller.scope, request.session_id(), reply, std::move(call));
}

}  // namespace callslip::tracker
