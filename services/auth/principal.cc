#include "auth/principal.h"

namespace callslip {

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kClient:
      return "client";
    case Role::kWorker:
      return "worker";
    case Role::kViewer:
      return "viewer";
    case Role::kAdmin:
      return "admin";
    case Role::kRunner:
      return "runner";
    case Role::kGateway:
      return "gateway";
    case Role::kLocal:
      return "local";
  }
  return "unknown";
}

std::optional<Role> ParseRole(absl::string_view name) {
  for (const Role role : kTokenRoles) {
    if (name == RoleName(role)) return role;
  }
  return std::nullopt;
}

bool MaySubmit(Role role) { return RoleSet{Role::kClient, Role::kAdmin, Role::kLocal}.Has(role); }

bool SeesAllClients(Role role) { return RoleSet{Role::kViewer, Role::kAdmin}.Has(role); }

}  // namespace callslip
