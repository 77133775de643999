#ifndef CALLSLIP_GATEWAY_AUTH_PRINCIPAL_H_
#define CALLSLIP_GATEWAY_AUTH_PRINCIPAL_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// What a caller may do.
enum class Role {
  kClient,  // An agent: hands in commands, and sees its own.
  kWorker,  // A browser extension: takes commands and reports their results.
  kViewer,  // Looks, and changes nothing.
  kAdmin,   // All of these.
};

// "client", "worker", "viewer" or "admin".
absl::string_view RoleName(Role role);

// Nullopt for anything else.
std::optional<Role> ParseRole(absl::string_view name);

// True for those who may hand in commands or end them.
bool MaySubmit(Role role);

// Who makes a request. The tracker knows it as the client to whom commands belong.
struct Principal {
  std::string name;  // 1 to 64 characters of a-z, 0-9, '.', '_' and '-'.
  Role role = Role::kViewer;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_AUTH_PRINCIPAL_H_
