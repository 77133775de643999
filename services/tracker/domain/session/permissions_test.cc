#include "tracker/domain/session/permissions.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;

constexpr const char* kKinds[] = {"allow_once", "allow_always",  "reject_once", "reject_always",
                                  "",           "reject_nothing"};

PermissionRequest Question(const std::string& id, bool parent_may_allow) {
  PermissionRequest request{.id = id, .title = "rm?", .parent_may_allow = parent_may_allow};
  for (const char* kind : kKinds) request.options.push_back({absl::StrCat("o-", kind), "", kind});
  return request;
}

// All kinds of options, callers and questions: an agent can allow only if the question permits it.
TEST(PermissionsTest, AgentCanAlwaysRejectButAllowOnlyWhenPermitted) {
  Permissions permissions;
  int asked = 0;
  for (const bool parent_may_allow : {false, true}) {
    for (const std::string kind : kKinds) {
      for (const std::string by : {"", "person", "agent"}) {
        SCOPED_TRACE(absl::StrCat(by, " picks ", kind, " ", parent_may_allow));
        const std::string id = absl::StrCat("p-", ++asked);
        ASSERT_OK(permissions.Ask(Question(id, parent_may_allow), nullptr, absl::UnixEpoch()));
        const auto answered =
            permissions.Answer({.request_id = id, .option_id = "o-" + kind, .decided_by = by});
        const bool rejects = kind == "reject_once" || kind == "reject_always";
        if (by != "agent" || rejects || parent_may_allow) {
          ASSERT_OK(answered);
          EXPECT_EQ(answered->answer.decided_by, by.empty() ? "person" : by);
          continue;
        }
        EXPECT_THAT(answered, FailsWith(StatusCode::kFailedPrecondition, "person_decides"));
        // The question is still open for a person.
        EXPECT_OK(permissions.Answer({.request_id = id, .option_id = "o-" + kind}));
      }
    }
  }
  EXPECT_TRUE(permissions.empty());
}

// The asker may read the id as either option.
TEST(PermissionsTest, OptionIdSharedWithAllowOptionIsNoRejection) {
  for (const bool allowance_first : {false, true}) {
    Permissions permissions;
    PermissionRequest request{.id = "p", .title = "rm?"};
    request.options = {{"same", "", allowance_first ? "allow_once" : "reject_once"},
                       {"same", "", allowance_first ? "reject_once" : "allow_once"}};
    ASSERT_OK(permissions.Ask(request, nullptr, absl::UnixEpoch()));
    EXPECT_THAT(permissions.Answer({.request_id = "p", .option_id = "same", .decided_by = "agent"}),
                FailsWith(StatusCode::kFailedPrecondition, "person_decides"));
  }
}

}  // namespace
}  // namespace callslip::tracker
