#ifndef CALLSLIP_RUNNER_SESSION_PERMISSION_POLICY_H_
#define CALLSLIP_RUNNER_SESSION_PERMISSION_POLICY_H_

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runner/acp/agent_update.h"

namespace callslip::runner {

// What is done when an agent asks: a person is asked, or an option of this kind is picked.
enum class PermissionRule { kAsk, kAllowOnce, kAllowAlways, kRejectOnce, kRejectAlways };

// By PermissionRule, as they are written.
inline constexpr std::array<absl::string_view, 5> kPermissionRules = {
    "ask", "allow_once", "allow_always", "reject_once", "reject_always"};

// The kinds of tools that there may be a rule for. A switch of the mode is none of them: it changes
// what the agent asks for from then on, so nobody but a person allows it.
inline constexpr std::array<absl::string_view, 9> kToolKinds = {
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"};

std::optional<PermissionRule> ParsePermissionRule(absl::string_view text);

// What a workspace has decided beforehand.
struct PermissionPolicy {
  PermissionRule otherwise = PermissionRule::kAsk;             // `default`
  std::map<std::string, PermissionRule, std::less<>> by_kind;  // Of kToolKinds.

  // The id of the option to pick, or nothing where a person has to be asked. `kind` is that of the
  // tool; one that there is no rule for is subject to `otherwise`. Nothing is allowed of a kind
  // that is none of kToolKinds, since nobody knows what that is. A denial picks the kind of
  // rejection that is asked for, or else the other one; an allowance never picks more than was
  // asked for. Where several options are of the kind to pick, a person chooses.
  std::optional<std::string> Decide(absl::string_view kind,
                                    const std::vector<PermissionOption>& options) const;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_PERMISSION_POLICY_H_
