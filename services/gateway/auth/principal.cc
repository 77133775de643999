#include "gateway/auth/principal.h"

namespace callslip::gateway {

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
  }
  return "unknown";
}

std::optional<Role> ParseRole(absl::string_view name) {
  for (const Role role : {Role::kClient, Role::kWorker, Role::kViewer, Role::kAdmin}) {
    if (name == RoleName(role)) return role;
  }
  return std::nullopt;
}

bool MaySubmit(Role role) { return role == Role::kClient || role == Role::kAdmin; }

}  // namespace callslip::gateway
