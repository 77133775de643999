#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace callslip {

// A caller's permissions, at the tracker and at the gateway.
enum class Role {
  kClient,   // An agent: submits commands, and sees its own.
  kWorker,   // A browser extension: takes commands and reports their results.
  kViewer,   // Sees the data of all clients, and changes nothing.
  kAdmin,    // Sees and does everything, for all clients.
  kRunner,   // Runs the agents of all clients' sessions.
  kGateway,  // Acts for others, whom it has authenticated.
  kLocal,    // An unauthenticated caller on this machine: all of the above, for itself only.
};

// The roles that a token can have, in the order of their declaration.
inline constexpr std::array kTokenRoles = {Role::kClient, Role::kWorker, Role::kViewer,
                                           Role::kAdmin,  Role::kRunner, Role::kGateway};

// As in the token file: "client".
absl::string_view RoleName(Role role);

// Nullopt if `name` is not a role that a token can have.
std::optional<Role> ParseRole(absl::string_view name);

// A set of roles.
class RoleSet {
 public:
  constexpr RoleSet() = default;
  constexpr RoleSet(std::initializer_list<Role> roles) {
    for (const Role role : roles) Add(role);
  }
  constexpr void Add(Role role) { bits_ |= BitOf(role); }
  constexpr bool Has(Role role) const { return (bits_ & BitOf(role)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr RoleSet operator|(RoleSet other) const {
    other.bits_ |= bits_;
    return other;
  }
  // In the order of their declaration.
  std::vector<Role> List() const;

 private:
  static constexpr uint32_t BitOf(Role role) { return uint32_t{1} << static_cast<int>(role); }

  uint32_t bits_ = 0;
};

// "client, viewer or admin".
std::string RoleNames(RoleSet roles);

// See the data of all clients and change nothing, not even by looking.
inline constexpr RoleSet kReadOnlyRoles = {Role::kViewer};

// The roles that can use certain routes of the gateway, in addition to `local`.
inline constexpr RoleSet kWriters = {Role::kClient, Role::kAdmin};
inline constexpr RoleSet kWorkers = {Role::kWorker, Role::kAdmin};
inline constexpr RoleSet kOperators = kReadOnlyRoles | RoleSet{Role::kAdmin};
inline constexpr RoleSet kReaders = kWriters | kReadOnlyRoles;

// Whether the role can submit and end commands.
bool MaySubmit(Role role);

// Whether the role sees the data of all clients.
bool SeesAllClients(Role role);

// The restrictions of a worker. Empty: none.
struct WorkerScope {
  std::vector<std::string> targets;  // The only targets whose commands it can take.
  std::string worker_id;             // The only name that it can use.

  // Whether there are restrictions. A restricted worker must prove each report.
  bool holds() const { return !targets.empty() || !worker_id.empty(); }

  bool operator==(const WorkerScope&) const = default;
};

// The identity of a caller. The tracker knows it as the client that owns commands.
struct Principal {
  std::string name;  // 1 to 64 characters of a-z, 0-9, '.', '_' and '-'.
  Role role = Role::kViewer;
  WorkerScope scope;

  bool operator==(const Principal&) const = default;
};

// Whether `text` is valid as the name of a principal.
bool IsPrincipalName(absl::string_view text);

// Whether the gateway gives such names to callers that an authorization server vouches for:
// `oauth-NAME` and `oauth_DIGITS`. The token file cannot contain such names, so that neither kind
// can take a name of the other.
bool IsProviderName(absl::string_view name);

// How a gateway names, in `client_id`, the caller for whom it calls the tracker: the name, followed
// by the role if that sees more than a client, as in `bob@admin`.
std::string OnBehalfOf(const Principal& principal);

// Checks that a worker can take commands of `target` (empty: `browser`) under the name `worker_id`
// (empty: `default`), and completes empty ones with the only permitted value. PERMISSION_DENIED,
// reason `not_your_target`, which names the permitted values. An unrestricted worker can use all; a
// runner is restricted to the targets of sessions, `session-ID`.
absl::Status EnforceScope(const Principal& principal, std::string& target, std::string& worker_id);

// The name of all unauthenticated callers, which together are one client.
inline constexpr char kLocalName[] = "local";

}  // namespace callslip
