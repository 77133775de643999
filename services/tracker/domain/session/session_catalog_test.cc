#include "tracker/domain/session/session_catalog.h"

#include <string>

#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

const absl::Time kNoon = absl::FromUnixSeconds(1'769'947'200);

TEST(SessionCatalogTest, SessionIsListedOnceAfterItsCreationTimeChanges) {
  SessionCatalog catalog({});
  catalog.Set({.session_id = "a", .created_at = kNoon});
  catalog.Set({.session_id = "a", .created_at = kNoon - absl::Hours(1)});
  ASSERT_OK_AND_ASSIGN(const SessionPage page, catalog.List({}, 0, ""));
  ASSERT_EQ(page.sessions.size(), 1u);
  EXPECT_EQ(page.sessions[0].created_at, kNoon - absl::Hours(1));
  catalog.Remove("a");
  EXPECT_EQ(catalog.List({}, 0, "")->sessions.size(), 0u);
}

}  // namespace
}  // namespace callslip::tracker
