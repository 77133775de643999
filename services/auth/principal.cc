#include "auth/principal.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error_details.h"
#include "common/session_target.h"
#include "common/text_scan.h"

namespace callslip {
namespace {

// The tracker's default.
constexpr absl::string_view kDefaultTarget = "browser";
constexpr size_t kMaxShown = 128;

absl::Status NotYourTarget(const Principal& principal, absl::string_view what,
                           absl::string_view named, absl::string_view allowed) {
  return ErrorWithDetails(
      absl::StatusCode::kPermissionDenied,
      absl::StrCat("the worker ", principal.name, " may not ", what, " ",
                   CutText(named, kMaxShown)),
      {.reason = "not_your_target",
       .hint = absl::StrCat("Its line in the token file allows only: ", allowed, ".")});
}

}  // namespace

std::vector<Role> RoleSet::List() const {
  std::vector<Role> roles;
  absl::c_copy_if(kTokenRoles, std::back_inserter(roles), [this](Role role) { return Has(role); });
  if (Has(Role::kLocal)) roles.push_back(Role::kLocal);
  return roles;
}

std::string RoleNames(RoleSet roles) {
  std::vector<absl::string_view> names;
  for (const Role role : roles.List()) names.push_back(RoleName(role));
  if (names.size() < 2) return absl::StrJoin(names, "");
  const absl::string_view last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " or ", last);
}

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kClient: return "client";
    case Role::kWorker: return "worker";
    case Role::kViewer: return "viewer";
    case Role::kAdmin: return "admin";
    case Role::kRunner: return "runner";
    case Role::kGateway: return "gateway";
    case Role::kLocal: return "local";
  }
  return "unknown";
}

std::optional<Role> ParseRole(absl::string_view name) {
  for (const Role role : kTokenRoles) {
    if (name == RoleName(role)) return role;
  }
  return std::nullopt;
}

bool MaySubmit(Role role) { return kWriters.Has(role) || role == Role::kLocal; }

std::string OnBehalfOf(const Principal& principal) {
  if (!SeesAllClients(principal.role)) return principal.name;
  return absl::StrCat(principal.name, "@", RoleName(principal.role));
}

absl::Status EnforceScope(const Principal& principal, std::string& target, std::string& worker_id) {
  const WorkerScope& held = principal.scope;
  const auto may_take = [&held](absl::string_view named) {
    return held.targets.empty() || absl::c_linear_search(held.targets, named);
  };
  if (principal.role == Role::kRunner && !absl::StartsWith(target, kSessionTargets)) {
    return NotYourTarget(principal, "take commands of the target", target,
                         "those of sessions, session-ID");
  }
  if (target.empty() && !may_take(kDefaultTarget)) target = held.targets.front();
  if (worker_id.empty()) worker_id = held.worker_id;
  if (!may_take(target.empty() ? kDefaultTarget : target)) {
    return NotYourTarget(principal, "take commands of the target", target,
                         absl::StrJoin(held.targets, ", "));
  }
  if (!held.worker_id.empty() && worker_id != held.worker_id) {
    return NotYourTarget(principal, "go by the name", worker_id, held.worker_id);
  }
  return absl::OkStatus();
}

bool SeesAllClients(Role role) { return kOperators.Has(role); }

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
