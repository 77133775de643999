#ifndef CALLSLIP_TRACKER_SERVER_CALL_CONTEXT_H_
#define CALLSLIP_TRACKER_SERVER_CALL_CONTEXT_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "auth/principal.h"
#include "common/trace_companions.h"
#include "common/trace_context.h"
#include "tracker/domain/client_scope.h"

namespace callslip::tracker {

// Who makes a call, and for whom. Made where the call comes in (Authenticator); nothing else tells
// handlers whose call it is.
struct CallContext {
  // Who has shown itself. Lives as long as the call.
  const Principal* principal = nullptr;
  // What by; null where nothing can be revoked.
  CredentialPtr credential;
  // On whose behalf the call is made: the principal itself, or whom it speaks for. What the call
  // makes is this client's.
  std::string client_id;
  // As what, from which follows whose things it finds by their ids.
  Role role = Role::kLocal;
  ClientScope scope;
  // The other end, as gRPC writes it: `ipv4:127.0.0.1:4242`, `unix:`.
  std::string peer;
  // When the caller gives up.
  absl::Time deadline = absl::InfiniteFuture();
  // The `traceparent` of W3C Trace Context that came with the call; may be empty, and malformed.
  std::string trace;
  // What came beside it, of a call that may begin a trace.
  TraceCompanions companions;
  // Where the call belongs in a trace: its own span, if it is recorded. Empty where no spans are.
  TraceContext span;
  // The same for the log, where no spans are recorded: what came with the call.
  TraceContext Trace() const {
    return span.empty() ? TraceContext::Parse(trace).value_or(TraceContext()) : span;
  }

  // Of a call that is answered at once: what is to be done once its answer, which is none of an
  // error, has left. Null: nobody can tell, and it is done by WhenAnswered() itself.
  std::function<void()>* when_answered = nullptr;

  // To be called once at most, before the handler returns.
  void WhenAnswered(std::function<void()> action) const {
    if (when_answered == nullptr) return action();
    *when_answered = std::move(action);
  }

  // The same call for the client that a part of it names, as `client_id` of a request does:
  // `NAME`, or `NAME@ROLE` from a gateway; empty is the caller itself. A runner, which is given
  // sessions of all clients, names whose they are and stays what it is. PERMISSION_DENIED, reason
  // `not_your_client`, where it may not speak for that one.
  absl::StatusOr<CallContext> OnBehalfOf(absl::string_view named) const;

  // Whose commands a worker, and whose sessions a runner is given: everybody's, but `local` its own
  // alone.
  ClientScope Serves() const;

  // Whose things are listed for an `owner` that a request names: empty is the client itself, `*`
  // all. PERMISSION_DENIED, reason `not_your_client`, where it sees its own alone.
  absl::StatusOr<ClientScope> ScopeOf(absl::string_view owner) const;
};

// What `look(clients)` finds among the caller's own, and else among what it may see of others: a
// result that it looks at there is not collected.
template <typename Look>
auto FindOwnThenVisible(const CallContext& caller, Look look) {
  // A viewer's look never collects, also where its name is a client's.
  if (caller.role == Role::kViewer) return look(caller.scope);
  auto found = look(ClientScope(caller.client_id));
  if (!caller.scope.is_all() || !absl::IsNotFound(found.status())) return found;
  return look(caller.scope);
}

// Of whoever comes where nothing is asked for: `local`.
CallContext LocalCall();

// What a role finds by ids: everybody's, or its own.
ClientScope ScopeOfRole(Role role, const std::string& client_id);

// PERMISSION_DENIED, reason `not_your_client`, with what to do instead.
absl::Status NotYourClient(const Principal& principal, absl::string_view named);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_SERVER_CALL_CONTEXT_H_
