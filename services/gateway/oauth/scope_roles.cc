#include "gateway/oauth/scope_roles.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "auth/sha256.h"

namespace callslip::gateway {
namespace {

// By decreasing rights. A client can do more than a read-only role, although it sees less, and a
// worker can do nothing that they can.
constexpr RoleSet kRanks[] = {{Role::kAdmin}, {Role::kClient}, kReadOnlyRoles, {Role::kWorker}};
constexpr RoleSet kScopeRoles = kRanks[0] | kRanks[1] | kRanks[2] | kRanks[3];

// A scope-token (RFC 6749, section 3.3).
bool IsScope(absl::string_view text) {
  return !text.empty() && absl::c_all_of(text, [](char c) {
    return absl::ascii_isgraph(c) && c != '"' && c != '\\';
  });
}

absl::Status BadEntry(absl::string_view entry) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", entry, "\" in --oauth-scopes is not SCOPE=ROLE with a role of ",
                   RoleNames(kScopeRoles), ", or names a scope twice"));
}

}  // namespace

absl::StatusOr<ScopeRoles> ScopeRoles::Parse(const std::vector<std::string>& entries) {
  ScopeRoles parsed;
  for (const absl::string_view entry : entries) {
    const size_t sign = entry.rfind('=');  // A scope can contain '=' as well.
    if (sign == absl::string_view::npos) return BadEntry(entry);
    std::string scope(entry.substr(0, sign));
    const std::optional<Role> role = ParseRole(entry.substr(sign + 1));
    const bool is_known =
        absl::c_any_of(parsed.entries_, [&](const auto& known) { return known.first == scope; });
    if (is_known || !IsScope(scope) || !role.has_value() || !kScopeRoles.Has(*role)) {
      return BadEntry(entry);
    }
    parsed.entries_.emplace_back(std::move(scope), *role);
  }
  if (parsed.entries_.empty()) {
    return absl::InvalidArgumentError("--oauth-scopes names no scope: no caller could have a role");
  }
  return parsed;
}

std::optional<Role> ScopeRoles::RoleOf(const std::vector<std::string>& scopes) const {
  for (const RoleSet rank : kRanks) {
    for (const auto& [scope, given] : entries_) {
      if (rank.Has(given) && absl::c_linear_search(scopes, scope)) return given;
    }
  }
  return std::nullopt;
}

std::string ProviderPrincipalName(absl::string_view issuer, absl::string_view caller) {
  std::string name = absl::StrCat("oauth-", caller);
  if (IsPrincipalName(name)) return name;
  // An issuer contains no line break, so each pair makes a different text.
  const std::string text = absl::StrCat(issuer, "\n", caller);
  const Sha256Digest digest = Sha256(text);
  constexpr size_t kBytes = 16;  // Finding two callers with the same 128 bits is infeasible.
  return absl::StrCat("oauth_", absl::BytesToHexString(AsBytes(digest).substr(0, kBytes)));
}

}  // namespace callslip::gateway
