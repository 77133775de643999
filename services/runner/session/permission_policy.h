#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runner/acp/agent_update.h"

namespace callslip::runner {

// What happens when an agent requests permission: a person is asked, or an option of this kind is
// picked.
enum class PermissionRule { kAsk, kAllowOnce, kAllowAlways, kRejectOnce, kRejectAlways };

// The configuration's names of PermissionRule, in its order.
inline constexpr std::array<absl::string_view, 5> kPermissionRules = {
    "ask", "allow_once", "allow_always", "reject_once", "reject_always"};

// The kinds of tools that can have a rule. A mode switch is not among them: it changes what the
// agent asks for from then on, so only a person can allow it.
inline constexpr std::array<absl::string_view, 9> kToolKinds = {
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"};

std::optional<PermissionRule> ParsePermissionRule(absl::string_view text);

// What a workspace has decided in advance.
struct PermissionPolicy {
  PermissionRule otherwise = PermissionRule::kAsk;             // `default`
  std::map<std::string, PermissionRule, std::less<>> by_kind;  // Keys from kToolKinds.

  // Returns the id of the option to pick; nullopt if a person must be asked. `kind` is the kind of
  // the tool; `otherwise` applies if it has no rule. Never allows a kind outside of kToolKinds,
  // because its effect is unknown. A denial picks the configured kind of rejection, or else the
  // other one; an allowance never picks more than configured. If several options have the kind to
  // pick, a person chooses.
  std::optional<std::string> Decide(absl::string_view kind,
                                    const std::vector<PermissionOption>& options) const;
};

}  // namespace callslip::runner
