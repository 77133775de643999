#pragma once

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

// The caller of a call, and the client on whose behalf it calls. Made where the call arrives
// (Authenticator), and the handlers' only source for the caller's identity.
struct CallContext {
  // The authenticated caller. Valid as long as the call.
  const Principal* principal = nullptr;
  // The credential that authenticated it; null if it cannot be revoked.
  CredentialPtr credential;
  // The client on whose behalf the call is made: the principal itself, or the client that it acts
  // for. This client owns what the call creates.
  std::string client_id;
  // The role in which it acts; it determines whose commands and sessions can be found by id.
  Role role = Role::kLocal;
  ClientScope scope;
  // The peer's address as gRPC writes it: `ipv4:127.0.0.1:4242`, `unix:`.
  std::string peer;
  // The deadline of the caller.
  absl::Time deadline = absl::InfiniteFuture();
  // The `traceparent` of W3C Trace Context sent with the call; may be empty or malformed.
  std::string trace;
  // The headers that accompany it, for a call that can begin a trace.
  TraceCompanions companions;
  // The call's place in a trace: its own span, if it is recorded. Empty if no spans are recorded.
  TraceContext span;
  // The trace for the log: `span`, or the `traceparent` of the call if no spans are recorded.
  TraceContext Trace() const {
    return span.empty() ? TraceContext::Parse(trace).value_or(TraceContext()) : span;
  }

  // For a call that is answered at once: the action to run once its successful response has been
  // sent. Null: sending cannot be observed, and WhenAnswered() runs the action itself.
  std::function<void()>* when_answered = nullptr;

  // Call it at most once, before the handler returns.
  void WhenAnswered(std::function<void()> action) const {
    if (when_answered == nullptr) return action();
    *when_answered = std::move(action);
  }

  // The same call on behalf of the client that a part of it names, as `client_id` of a request
  // does: `NAME`, or `NAME@ROLE` from a gateway; empty is the caller itself. A runner, which is
  // assigned sessions of all clients, names their owners but keeps its own identity.
  // PERMISSION_DENIED, reason `not_your_client`, if the caller may not act for that client.
  absl::StatusOr<CallContext> OnBehalfOf(absl::string_view named) const;

  // The clients whose commands a worker gets, and whose sessions a runner gets: all clients, but
  // for `local` only itself.
  ClientScope Serves() const;

  // The clients whose objects are listed for an `owner` that a request names: empty is the client
  // itself, `*` all. PERMISSION_DENIED, reason `not_your_client`, if the caller sees only its own.
  absl::StatusOr<ClientScope> ScopeOf(absl::string_view owner) const;
};

// The result of `look(clients)` among the caller's own objects, else among the others that it can
// see. Looking at a result there does not collect it.
template <typename Look>
auto FindOwnThenVisible(const CallContext& caller, Look look) {
  // A look of a read-only role never collects a result, even if a client has the same name.
  if (kReadOnlyRoles.Has(caller.role)) return look(caller.scope);
  auto found = look(ClientScope(caller.client_id));
  if (!caller.scope.is_all() || !absl::IsNotFound(found.status())) return found;
  return look(caller.scope);
}

// The context of an unauthenticated caller: `local`.
CallContext LocalCall();

// The clients whose objects a role finds by id: all, or only its own.
ClientScope ScopeOfRole(Role role, const std::string& client_id);

// PERMISSION_DENIED, reason `not_your_client`, with the remedy.
absl::Status NotYourClient(const Principal& principal, absl::string_view named);

}  // namespace callslip::tracker
