#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// Answers a call with the result of `call` on a session of `clients`, converted by `fill`.
template <typename T, typename Response>
void AnswerFrom(SessionCaller& sessions, const ClientScope& clients, const std::string& session_id,
                const std::shared_ptr<DeferredReply<Response>>& reply, SessionCaller::Call<T> call,
                std::function<void(const T&, Response&)> fill) {
  sessions.With<T>(clients, session_id, std::move(call),
                   [reply, fill = std::move(fill)](const absl::StatusOr<T>& result) {
                     if (!result.ok()) return reply->Fail(result.status());
                     Response response;
                     fill(*result, response);
                     reply->Finish(std::move(response), [] {});
                   });
}

}  // namespace callslip::tracker
