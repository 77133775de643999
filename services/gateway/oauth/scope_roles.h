#ifndef CALLSLIP_GATEWAY_OAUTH_SCOPE_ROLES_H_
#define CALLSLIP_GATEWAY_OAUTH_SCOPE_ROLES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "auth/principal.h"

namespace callslip::gateway {

// Which role a scope of the authorization server gives here.
class ScopeRoles {
 public:
  // Reads entries `SCOPE=ROLE`; ROLE is client, viewer, worker or admin. INVALID_ARGUMENT where one
  // is not that, a scope stands twice, or there is none.
  static absl::StatusOr<ScopeRoles> Parse(const std::vector<std::string>& entries);

  // The first of admin, client, viewer and worker that one of `scopes` gives. Nullopt where none
  // gives any.
  std::optional<Role> RoleOf(const std::vector<std::string>& scopes) const;

  // As they were written, in their order.
  const std::vector<std::pair<std::string, Role>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, Role>> entries_;
};

// The name here of whom the authorization server `issuer` calls `caller`: `oauth-CALLER` where that
// is a name that a principal may have; else `oauth_` with 32 hexadecimal digits, always the same.
// No two callers of an issuer get the same.
std::string ProviderPrincipalName(absl::string_view issuer, absl::string_view caller);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_SCOPE_ROLES_H_
