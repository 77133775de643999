#include "gateway/api/recent_mcp_clients.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/fake_clock.h"
#include "gateway/mcp/protocol/protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;

class RecentMcpClientsTest : public testing::Test {
 protected:
  std::vector<std::string> Listed() const {
    std::vector<std::string> listed;
    for (const RecentMcpClients::McpClient& each : clients_.List()) {
      listed.push_back(absl::StrCat(each.principal, "/", each.name));
    }
    return listed;
  }

  FakeClock clock_;
  RecentMcpClients clients_{&clock_};
};

TEST_F(RecentMcpClientsTest, LatestCallerComesFirst) {
  clients_.Note("alice", "Codex");
  const absl::Time first = clock_.Now();
  clock_.Advance(absl::Seconds(5));
  clients_.Note("alice", "Claude Code");
  clients_.Note("bob", "Codex");
  EXPECT_THAT(Listed(), ElementsAre("bob/Codex", "alice/Claude Code", "alice/Codex"));
  EXPECT_EQ(clients_.List().back().last_call, first);
  clients_.Note("alice", "Codex");
  EXPECT_THAT(Listed(), ElementsAre("alice/Codex", "bob/Codex", "alice/Claude Code"));
  EXPECT_EQ(clients_.List().front().last_call, first + absl::Seconds(5));
}

TEST_F(RecentMcpClientsTest, LongestSilentClientIsDroppedWhenThereAreTooMany) {
  clients_.Note("alice", "first");
  clients_.Note("alice", "second");
  for (size_t i = 2; i < RecentMcpClients::kMaxClients; ++i) {
    clients_.Note("alice", absl::StrCat("client ", i));
  }
  clients_.Note("alice", "first");
  clients_.Note("alice", "one more");
  EXPECT_EQ(clients_.List().size(), RecentMcpClients::kMaxClients);
  EXPECT_EQ(Listed()[1], "alice/first");
  EXPECT_THAT(Listed(), testing::Not(testing::Contains("alice/second")));
}

TEST_F(RecentMcpClientsTest, DoctorIsOmitted) {
  clients_.Note("alice", RecentMcpClients::kDoctor);
  EXPECT_THAT(Listed(), testing::IsEmpty());
}

TEST(ClientNameOfTest, IsTitleOrElseName) {
  EXPECT_EQ(ClientNameOf(Json{{"name", "claude-code"}, {"title", "Claude Code"}}), "Claude Code");
  EXPECT_EQ(ClientNameOf(Json{{"name", "codex"}, {"title", ""}}), "codex");
  EXPECT_EQ(ClientNameOf(Json{{"name", "codex"}, {"title", 5}}), "codex");
  for (const Json& none : {Json(), Json("codex"), Json::array({"codex"}), Json::object(),
                           Json{{"name", Json::object()}}}) {
    EXPECT_EQ(ClientNameOf(none), "") << none.dump();
  }
}

TEST(ClientNameOfTest, IsShortAndPrintable) {
  EXPECT_EQ(ClientNameOf(Json{{"name", " a\r\n\tb\x7f c "}}), "a   b  c");
  const std::string longest = ClientNameOf(Json{{"name", std::string(1000, 'x') + "\u00e9"}});
  EXPECT_EQ(longest, std::string(40, 'x'));
  EXPECT_EQ(ClientNameOf(Json{{"name", std::string(39, 'x') + "\u00e9"}}), std::string(39, 'x'));
}

}  // namespace
}  // namespace callslip::gateway
