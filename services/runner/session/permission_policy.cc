#include "runner/session/permission_policy.h"

#include "absl/algorithm/container.h"

namespace callslip::runner {
namespace {

// The kinds of options that satisfy a rule, in order of preference.
std::vector<absl::string_view> Wanted(PermissionRule rule) {
  switch (rule) {
    case PermissionRule::kAsk: return {};
    case PermissionRule::kAllowOnce: return {"allow_once"};
    case PermissionRule::kAllowAlways: return {"allow_always", "allow_once"};
    case PermissionRule::kRejectOnce: return {"reject_once", "reject_always"};
    case PermissionRule::kRejectAlways: return {"reject_always", "reject_once"};
  }
  return {};
}

bool IsClear(const PermissionOption& option, const std::vector<PermissionOption>& all) {
  return !option.id.empty() && absl::c_count_if(all, [&](const PermissionOption& other) {
                                 return other.id == option.id;
                               }) == 1;
}

bool Allows(PermissionRule rule) {
  return rule == PermissionRule::kAllowOnce || rule == PermissionRule::kAllowAlways;
}

}  // namespace

std::optional<PermissionRule> ParsePermissionRule(absl::string_view text) {
  const auto* rule = absl::c_find(kPermissionRules, text);
  if (rule == kPermissionRules.end()) return std::nullopt;
  return static_cast<PermissionRule>(rule - kPermissionRules.begin());
}

std::optional<std::string> PermissionPolicy::Decide(
    absl::string_view kind, const std::vector<PermissionOption>& options) const {
  const auto found = by_kind.find(kind);
  const PermissionRule rule = found == by_kind.end() ? otherwise : found->second;
  if (Allows(rule) && !absl::c_linear_search(kToolKinds, kind)) return std::nullopt;
  for (const absl::string_view wanted : Wanted(rule)) {
    const PermissionOption* only = nullptr;
    for (const PermissionOption& offered : options) {
      if (offered.kind != wanted) continue;
      // A rule does not choose among several options.
      if (only != nullptr) return std::nullopt;
      only = &offered;
    }
    // An empty or ambiguous id could be taken for another option.
    if (only != nullptr && IsClear(*only, options)) return only->id;
    if (only != nullptr) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace callslip::runner
