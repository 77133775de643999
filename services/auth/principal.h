#ifndef CALLSLIP_AUTH_PRINCIPAL_H_
#define CALLSLIP_AUTH_PRINCIPAL_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace callslip {

// What a caller may do, at the tracker as at the gateway.
enum class Role {
  kClient,   // An agent: hands in commands, and sees its own.
  kWorker,   // A browser extension: takes commands and reports their results.
  kViewer,   // Sees what all clients have, and changes nothing.
  kAdmin,    // Sees and does everything, for all clients.
  kRunner,   // Runs the agents of all clients' sessions.
  kGateway,  // Speaks for others, who have shown it who they are.
  kLocal,  // Whoever comes to a listener that asks for nothing: all of these, but for itself alone.
};

// Those that a token may have, in the order of their declaration.
inline constexpr std::array kTokenRoles = {Role::kClient, Role::kWorker, Role::kViewer,
                                           Role::kAdmin,  Role::kRunner, Role::kGateway};

// "client", "worker", "viewer", "admin", "runner", "gateway" or "local".
absl::string_view RoleName(Role role);

// Nullopt for what no token may have.
std::optional<Role> ParseRole(absl::string_view name);

// Some roles.
class RoleSet {
 public:
  constexpr RoleSet() = default;
  constexpr RoleSet(std::initializer_list<Role> roles) {
    for (const Role role : roles) Add(role);
  }
  constexpr void Add(Role role) { bits_ |= BitOf(role); }
  constexpr bool Has(Role role) const { return (bits_ & BitOf(role)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  // In the order of their declaration.
  std::vector<Role> List() const;

 private:
  static constexpr uint32_t BitOf(Role role) { return uint32_t{1} << static_cast<int>(role); }

  uint32_t bits_ = 0;
};

// Who may use which routes of the gateway, in addition to `local`.
inline constexpr RoleSet kReaders = {Role::kClient, Role::kViewer, Role::kAdmin};
inline constexpr RoleSet kWriters = {Role::kClient, Role::kAdmin};
inline constexpr RoleSet kWorkers = {Role::kWorker, Role::kAdmin};
inline constexpr RoleSet kOperators = {Role::kViewer, Role::kAdmin};

// True for those who may hand in commands or end them.
bool MaySubmit(Role role);

// True for those who see what all clients have.
bool SeesAllClients(Role role);

// What a worker is held to. Empty: to nothing.
struct WorkerScope {
  std::vector<std::string> targets;  // The only ones that it may take commands of.
  std::string worker_id;             // The only name that it may go by.

  // Whether it is held to anything. Who is has to prove each report.
  bool holds() const { return !targets.empty() || !worker_id.empty(); }

  bool operator==(const WorkerScope&) const = default;
};

// Who makes a request. The tracker knows it as the client to whom commands belong.
struct Principal {
  std::string name;  // 1 to 64 characters of a-z, 0-9, '.', '_' and '-'.
  Role role = Role::kViewer;
  WorkerScope scope;

  bool operator==(const Principal&) const = default;
};

// Whether `text` may be the name of a principal.
bool IsPrincipalName(absl::string_view text);

// Whether a name is of those that the gateway gives to whom an authorization server vouches for:
// `oauth-NAME` and `oauth_DIGITS`. No token file has such a name, so that neither can take the
// other's.
bool IsProviderName(absl::string_view name);

// How a gateway names, in `client_id`, for whom it calls the tracker: the name, and the role where
// that sees more than a client, as in `bob@viewer`.
std::string OnBehalfOf(const Principal& principal);

// Whether a worker may take commands of `target` (empty: `browser`) and go by `worker_id` (empty:
// `default`); completes empty ones with the only ones that it may have. PERMISSION_DENIED, reason
// `not_your_target`, which names what it may. Whoever is held to nothing may all; a runner is held
// to the targets of sessions, `session-ID`.
absl::Status EnforceScope(const Principal& principal, std::string& target, std::string& worker_id);

// Callers who had to show nothing are together one client.
inline constexpr char kLocalName[] = "local";

}  // namespace callslip

#endif  // CALLSLIP_AUTH_PRINCIPAL_H_
