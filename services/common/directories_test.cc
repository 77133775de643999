#include "common/directories.h"

#include "gtest/gtest.h"

namespace callslip {
namespace {

TEST(DirectoriesTest, DirectoryContainsItselfAndItsDescendants) {
  EXPECT_TRUE(IsInside("/web", "/web"));
  EXPECT_TRUE(IsInside("/web/app/src", "/web"));
  EXPECT_TRUE(IsInside("/web/app", "/web/"));
  EXPECT_TRUE(IsInside("//web/./app/", "/web"));
  EXPECT_TRUE(IsInside("/anything", "/"));
  EXPECT_FALSE(IsInside("/", "/web"));
  EXPECT_FALSE(IsInside("/home/web", "/web"));
}

TEST(DirectoriesTest, ContainmentComparesComponentsNotPrefixes) {
  EXPECT_FALSE(IsInside("/web-evil", "/web"));
  EXPECT_FALSE(IsInside("/website/a", "/web"));
}

TEST(DirectoriesTest, DirectoryContainsNoUpwardOrRelativePaths) {
  EXPECT_FALSE(IsInside("/web/../etc", "/web"));
  EXPECT_FALSE(IsInside("/web/a/..", "/web"));
  EXPECT_FALSE(IsInside("web", "/web"));
  EXPECT_FALSE(IsInside("", "/"));
  EXPECT_FALSE(IsInside("/web", "web"));
  EXPECT_FALSE(IsInside("/web/../x", "/web/.."));
}

TEST(DirectoriesTest, RelativePathLeadsFromDirectoryToDescendant) {
  EXPECT_EQ(RelativeTo("/web/app/src", "/web"), "app/src");
  EXPECT_EQ(RelativeTo("//web/./app/", "/web//"), "app");
  EXPECT_EQ(RelativeTo("/web/", "/web"), ".");
  EXPECT_EQ(RelativeTo("/web", "/"), "web");
  EXPECT_EQ(RelativeTo("/", "/"), ".");
  EXPECT_EQ(RelativeTo("/website", "/web"), std::nullopt);
  EXPECT_EQ(RelativeTo("/", "/web"), std::nullopt);
  EXPECT_EQ(RelativeTo("/web/../etc", "/web"), std::nullopt);
  EXPECT_EQ(RelativeTo("web/app", "web"), std::nullopt);
}

TEST(DirectoriesTest, DepthCountsComponentsOnly) {
  EXPECT_EQ(DepthOf("/"), 0u);
  EXPECT_EQ(DepthOf("/web"), 1u);
  EXPECT_EQ(DepthOf("//web/./app/"), 2u);
}

}  // namespace
}  // namespace callslip
