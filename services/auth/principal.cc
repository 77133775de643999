#include "auth/principal.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

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

bool IsPrincipalName(absl::string_view text) {
  constexpr size_t kMaxBytes = 64;
  return !text.empty() && text.size() <= kMaxBytes && absl::c_all_of(text, [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '.' || c == '_' || c == '-';
  });
}

bool IsProviderName(absl::string_view name) {
  return absl::StartsWith(name, "oauth-") || absl::StartsWith(name, "oauth_");
}

}  // namespace callslip
