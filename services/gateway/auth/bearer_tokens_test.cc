#include "gateway/auth/bearer_tokens.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::Optional;

const std::string kAgentToken(32, 'a');
const std::string kBrowserToken(32, 'b');

TEST(BearerTokensTest, KnowsWhoPresentsWhich) {
  const BearerTokens tokens(
      {{{"agent", Role::kClient}, kAgentToken}, {{"browser", Role::kWorker}, kBrowserToken}});
  ASSERT_TRUE(tokens.Find(kAgentToken).has_value());
  EXPECT_EQ(tokens.Find(kAgentToken)->name, "agent");
  EXPECT_EQ(tokens.Find(kAgentToken)->role, Role::kClient);
  EXPECT_EQ(tokens.Find(kBrowserToken)->name, "browser");
  EXPECT_EQ(tokens.Find(kBrowserToken)->role, Role::kWorker);
}

TEST(BearerTokensTest, KnowsNothingElse) {
  const BearerTokens tokens({{{"agent", Role::kClient}, kAgentToken}});
  for (const std::string& token : {std::string(), std::string("a"), std::string(31, 'a'),
                                   std::string(33, 'a'), std::string(32, 'A'), kBrowserToken}) {
    EXPECT_FALSE(tokens.Find(token).has_value()) << token;
  }
}

TEST(BearerTokenOfTest, ReadsTheHeader) {
  EXPECT_THAT(BearerTokenOf("Bearer secret"), Optional(std::string("secret")));
  EXPECT_THAT(BearerTokenOf("bearer  secret "), Optional(std::string("secret")));
  for (const char* header : {"", "Bearer", "Bearer ", "Basic secret", "secret", "Bearersecret"}) {
    EXPECT_FALSE(BearerTokenOf(header).has_value()) << header;
  }
}

TEST(RoleTest, HaveNames) {
  for (const Role role : {Role::kClient, Role::kWorker, Role::kViewer, Role::kAdmin}) {
    EXPECT_THAT(ParseRole(RoleName(role)), Optional(role));
  }
  EXPECT_FALSE(ParseRole("root").has_value());
  EXPECT_FALSE(ParseRole("").has_value());
}

TEST(RoleTest, OnlyClientsAndAdministratorsMaySubmit) {
  EXPECT_TRUE(MaySubmit(Role::kClient));
  EXPECT_TRUE(MaySubmit(Role::kAdmin));
  EXPECT_FALSE(MaySubmit(Role::kWorker));
  EXPECT_FALSE(MaySubmit(Role::kViewer));
}

}  // namespace
}  // namespace callslip::gateway
