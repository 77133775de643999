#include "gateway/json/command_json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

std::string CallerMadeOf(const std::string& client_id, const std::string& label) {
  v1::CommandLease lease;
  lease.mutable_command()->set_client_id(client_id);
  lease.mutable_command()->set_label(label);
  lease.mutable_command()->set_params("{}");
  const Json query = PendingQuery(lease);
  EXPECT_THAT(query.dump(), Not(HasSubstr(client_id)));
  return query["caller"];
}

TEST(PendingQueryTest, DistinguishesCallersWithoutRevealingTheirIds) {
  const std::string caller = CallerMadeOf("agent-a", "session-1");
  EXPECT_THAT(caller, MatchesRegex("[0-9a-f]{12}"));
  EXPECT_EQ(CallerMadeOf("agent-a", "session-1"), caller);
  EXPECT_NE(CallerMadeOf("agent-a", "session-2"), caller);
  EXPECT_NE(CallerMadeOf("agent-b", "session-1"), caller);
  EXPECT_NE(CallerMadeOf("agent-a", ""), CallerMadeOf("agent-b", ""));
}

}  // namespace
}  // namespace callslip::gateway
