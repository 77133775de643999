#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "auth/principal.h"

namespace callslip::gateway {

// The roles that scopes of the authorization server give here.
class ScopeRoles {
 public:
  // Parses entries `SCOPE=ROLE`; ROLE is admin, client, worker or a read-only role.
  // INVALID_ARGUMENT if an entry is malformed, if a scope appears twice, or if there is no entry.
  static absl::StatusOr<ScopeRoles> Parse(const std::vector<std::string>& entries);

  // The role with the most rights that one of `scopes` gives. Nullopt if none gives a role.
  std::optional<Role> RoleOf(const std::vector<std::string>& scopes) const;

  // As written, in their order.
  const std::vector<std::pair<std::string, Role>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, Role>> entries_;
};

// The name of a principal that the authorization server `issuer` calls `caller`: `oauth-CALLER` if
// that is a valid principal name, else `oauth_` and 32 hexadecimal digits, which are always the
// same. No two callers of an issuer get the same name.
std::string ProviderPrincipalName(absl::string_view issuer, absl::string_view caller);

}  // namespace callslip::gateway
