#include "tracker/server/call_context.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/error_details.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/command/command_validation.h"

namespace callslip::tracker {
namespace {

constexpr absl::string_view kAllClients = "*";

// The roles that find other clients' objects by id. A runner can call only methods about sessions.
bool FindsEverybodys(Role role) { return SeesAllClients(role) || role == Role::kRunner; }

}  // namespace

CallContext LocalCall() {
  static const Principal local{kLocalName, Role::kLocal, {}};
  return {.principal = &local, .client_id = kLocalName};
}

ClientScope ScopeOfRole(Role role, const std::string& client_id) {
  return FindsEverybodys(role) ? ClientScope::All() : ClientScope(client_id);
}

absl::Status NotYourClient(const Principal& principal, absl::string_view named) {
  return ErrorWithDetails(
      absl::StatusCode::kPermissionDenied,
      absl::StrCat("the caller is ", principal.name, " with the role ", RoleName(principal.role),
                   ", and does not speak for ", CutText(named, kMaxNameBytes)),
      {.reason = "not_your_client",
       .hint = principal.role == Role::kLocal
                   ? "Connect over the tracker's unix socket, or with a token that has the role "
                     "gateway or admin."
                   : "Leave client_id and owner empty, or use a token with the role gateway or "
                     "admin."});
}

absl::StatusOr<CallContext> CallContext::OnBehalfOf(absl::string_view named) const {
  CallContext call = *this;
  const bool is_gateway = principal->role == Role::kGateway;
  // A client of the gateway can have the gateway's name, and is still a client.
  if (named.empty() || (named == client_id && !is_gateway)) return call;
  // A runner's methods concern its assigned sessions, whose owners it names; it keeps its own
  // identity.
  if (principal->role == Role::kRunner) {
    RETURN_IF_ERROR(CheckName("client_id", named));
    if (named != kAllClients) return call;
  }
  if (!is_gateway && principal->role != Role::kAdmin) return NotYourClient(*principal, named);
  std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(named, absl::MaxSplits('@', 1));
  call.role = is_gateway ? Role::kClient : Role::kAdmin;
  if (!parts.second.empty()) {
    const std::optional<Role> said = ParseRole(parts.second);
    if (!is_gateway || !said.has_value() || said == Role::kGateway) {
      return NotYourClient(*principal, named);
    }
    call.role = *said;
  }
  RETURN_IF_ERROR(CheckName("client_id", parts.first));
  if (parts.first.empty() || parts.first == kAllClients) return NotYourClient(*principal, named);
  call.client_id = std::string(parts.first);
  call.scope = ScopeOfRole(call.role, call.client_id);
  return call;
}

ClientScope CallContext::Serves() const {
  return principal->role == Role::kLocal ? ClientScope(client_id) : ClientScope::All();
}

absl::StatusOr<ClientScope> CallContext::ScopeOf(absl::string_view owner) const {
  if (owner.empty() || owner == client_id) return ClientScope(client_id);
  // A gateway that calls for no client sees all clients; for a client, it sees what that client
  // sees.
  if (!FindsEverybodys(role) && role != Role::kGateway) {
    return NotYourClient(*principal, owner);
  }
  if (owner == kAllClients) return ClientScope::All();
  RETURN_IF_ERROR(CheckName("owner", owner));
  return ClientScope(std::string(owner));
}

}  // namespace callslip::tracker
