#include "gateway/mcp/protocol/session_id.h"

#include <random>
#include <string>

#include "common/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::MatchesRegex;

const SessionInfo kSession = {"2025-06-18", "agent", "0123456789abcdef0123456789abcdef",
                              "Claude Code"};

class SessionIdsTest : public testing::Test {
 protected:
  const SessionIds ids_{std::string(32, 'k')};
};

TEST_F(SessionIdsTest, CarriesSession) {
  const std::string text = ids_.Issue(kSession);
  EXPECT_THAT(text, MatchesRegex("[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{22}"));
  const auto session = ids_.Verify(text);
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(session->protocol_version, kSession.protocol_version);
  EXPECT_EQ(session->principal, kSession.principal);
  EXPECT_EQ(session->id, kSession.id);
  EXPECT_EQ(session->client, kSession.client);
}

TEST_F(SessionIdsTest, IsBounded) {
  const std::string longest = ids_.Issue(
      {std::string(32, '9'), std::string(64, 'z'), RandomHex128(), std::string(40, 'c')});
  EXPECT_LE(longest.size(), 256u);
  EXPECT_TRUE(ids_.Verify(longest).has_value());
  EXPECT_FALSE(ids_.Verify(std::string(1 << 20, 'x')).has_value());
}

TEST_F(SessionIdsTest, IsValidOnlyAtGatewaysWithSameKey) {
  const std::string text = ids_.Issue(kSession);
  EXPECT_TRUE(SessionIds(std::string(32, 'k')).Verify(text).has_value());
  EXPECT_FALSE(SessionIds(std::string(32, 'x')).Verify(text).has_value());
}

TEST_F(SessionIdsTest, ChangingAnyCharacterMakesIdInvalid) {
  const std::string text = ids_.Issue(kSession);
  for (size_t i = 0; i < text.size(); ++i) {
    for (int c = 0; c < 256; ++c) {
      std::string forged = text;
      forged[i] = static_cast<char>(c);
      ASSERT_EQ(ids_.Verify(forged).has_value(), forged == text) << i << " " << c;
    }
    ASSERT_FALSE(ids_.Verify(text.substr(0, i)).has_value()) << i;
    ASSERT_FALSE(ids_.Verify(text.substr(i + 1)).has_value()) << i;
  }
  EXPECT_FALSE(ids_.Verify(text + "=").has_value());
  EXPECT_FALSE(ids_.Verify(" " + text).has_value());
}

TEST_F(SessionIdsTest, PartsOfDifferentIdsDoNotMatch) {
  const std::string mine = ids_.Issue(kSession);
  const std::string other = ids_.Issue({"2025-06-18", "admin", kSession.id});
  EXPECT_FALSE(ids_.Verify(other.substr(0, other.find('.')) + mine.substr(mine.find('.'))));
}

TEST_F(SessionIdsTest, GarbageIsRefused) {
  std::mt19937 generator(1);
  for (int i = 0; i < 100'000; ++i) {
    std::string text(generator() % 300, '\0');
    for (char& c : text) c = static_cast<char>(generator());
    if (!text.empty() && i % 2 == 0) text[generator() % text.size()] = '.';
    ASSERT_FALSE(ids_.Verify(text).has_value());
  }
  for (const char* text : {"", ".", "..", "a", "a.", ".a", "session-1"}) {
    EXPECT_FALSE(ids_.Verify(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace callslip::gateway
