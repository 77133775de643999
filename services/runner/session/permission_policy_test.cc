#include "runner/session/permission_policy.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

constexpr absl::string_view kOptionKinds[] = {"allow_once", "allow_always", "reject_once",
                                              "reject_always", "of_next_year"};

std::vector<std::string> KindsOfTools() {
  std::vector<std::string> kinds(kToolKinds.begin(), kToolKinds.end());
  kinds.insert(kinds.end(), {"switch_mode", "of_next_year", ""});
  return kinds;
}

// Every set of the kinds, in both orders. The id of an option contains its kind.
std::vector<std::vector<PermissionOption>> SetsOfOptions() {
  std::vector<std::vector<PermissionOption>> sets;
  for (unsigned set = 0; set < 1u << std::size(kOptionKinds); ++set) {
    std::vector<PermissionOption> options;
    for (size_t i = 0; i < std::size(kOptionKinds); ++i) {
      if ((set >> i & 1) == 0) continue;
      options.push_back(
          {.id = absl::StrCat("id-of-", kOptionKinds[i]), .kind = std::string(kOptionKinds[i])});
    }
    sets.push_back(options);
    std::reverse(options.begin(), options.end());
    sets.push_back(std::move(options));
  }
  return sets;
}

std::vector<PermissionRule> Rules() {
  std::vector<PermissionRule> rules;
  for (const absl::string_view text : kPermissionRules) rules.push_back(*ParsePermissionRule(text));
  return rules;
}

// The expectations of the protocol and of a person, independent of the policy's code.
void ExpectRight(PermissionRule rule, absl::string_view kind,
                 const std::vector<PermissionOption>& options,
                 const std::optional<std::string>& decided) {
  std::set<std::string> there;
  for (const PermissionOption& option : options) there.insert(option.id);
  const std::string rule_name(kPermissionRules[static_cast<size_t>(rule)]);
  const std::string asked_for = absl::StrCat("id-of-", rule_name);
  if (decided.has_value()) {
    EXPECT_TRUE(there.contains(*decided)) << "was not offered: " << *decided;
  }
  if (rule == PermissionRule::kAsk) {
    EXPECT_EQ(decided, std::nullopt);
  } else if (absl::StartsWith(rule_name, "reject")) {
    const bool can = there.contains("id-of-reject_once") || there.contains("id-of-reject_always");
    ASSERT_EQ(decided.has_value(), can);
    if (!can) return;
    EXPECT_TRUE(absl::StartsWith(*decided, "id-of-reject")) << *decided;
    EXPECT_TRUE(!there.contains(asked_for) || *decided == asked_for) << *decided;
  } else if (kind == "switch_mode" || kind == "of_next_year" || kind.empty()) {
    EXPECT_EQ(decided, std::nullopt);
  } else if (there.contains(asked_for)) {
    EXPECT_EQ(decided, asked_for);
  } else if (rule == PermissionRule::kAllowAlways && there.contains("id-of-allow_once")) {
    EXPECT_EQ(decided, "id-of-allow_once");
  } else {
    EXPECT_EQ(decided, std::nullopt);
  }
}

TEST(PermissionPolicyTest, DecidesCorrectlyForAllKindsPoliciesAndOptions) {
  const auto sets = SetsOfOptions();
  int decisions = 0;
  for (const std::string& asked : KindsOfTools()) {
    for (const absl::string_view ruled : kToolKinds) {
      for (const PermissionRule rule : Rules()) {
        for (const PermissionRule otherwise : Rules()) {
          const PermissionPolicy policy{otherwise, {{std::string(ruled), rule}}};
          for (const auto& options : sets) {
            SCOPED_TRACE(absl::StrCat(asked, " asked, ", ruled, " ruled"));
            ExpectRight(asked == ruled ? rule : otherwise, asked, options,
                        policy.Decide(asked, options));
            if (testing::Test::HasFailure()) return;
            ++decisions;
          }
        }
      }
    }
  }
  EXPECT_EQ(decisions, 12 * 9 * 5 * 5 * 64);
}

TEST(PermissionPolicyTest, AsksByDefault) {
  EXPECT_EQ(PermissionPolicy().Decide("read", {{"yes", "allow_once"}}), std::nullopt);
}

TEST(PermissionPolicyTest, NoRuleChoosesBetweenOptionsOfSameKind) {
  int decisions = 0;
  for (const std::string& kind : KindsOfTools()) {
    for (const PermissionRule rule : Rules()) {
      const PermissionPolicy policy{rule, {}};
      for (std::vector<PermissionOption> options : SetsOfOptions()) {
        const std::optional<std::string> decided = policy.Decide(kind, options);
        if (!decided.has_value()) continue;
        std::vector<PermissionOption> more;
        for (const PermissionOption& option : options) {
          if (option.id == *decided) more.push_back({.id = "b", .kind = option.kind});
        }
        options.insert(options.end(), more.begin(), more.end());
        EXPECT_EQ(policy.Decide(kind, options), std::nullopt) << kind << " " << *decided;
        ++decisions;
      }
    }
  }
  EXPECT_GT(decisions, 1'000);
}

TEST(PermissionPolicyTest, OptionWithAmbiguousIdIsLeftToPerson) {
  for (const PermissionRule rule : Rules()) {
    for (const absl::string_view other : kOptionKinds) {
      const PermissionPolicy policy{rule, {}};
      const std::string wanted(kPermissionRules[static_cast<size_t>(rule)]);
      if (wanted == other) continue;
      EXPECT_EQ(policy.Decide(
                    "read", {{.id = "x", .kind = wanted}, {.id = "x", .kind = std::string(other)}}),
                std::nullopt);
      EXPECT_EQ(policy.Decide("read", {{.id = "", .kind = wanted}}), std::nullopt);
    }
  }
}

TEST(PermissionPolicyTest, UnknownRulesAreInvalid) {
  for (const char* text : {"", "allow", "ALLOW_ONCE", "cancelled"}) {
    EXPECT_EQ(ParsePermissionRule(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace callslip::runner
