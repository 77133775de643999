#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

TEST_F(SessionTableTest, AppendedEventsAreCountedSinceProcessStart) {
  EXPECT_EQ(table_->appended_events(), 0);
  ASSERT_OK(Create("s1"));
  EXPECT_EQ(table_->appended_events(), 1);
  ASSERT_OK(Record(AgentMessage{}));
  ASSERT_OK(Record(AgentMessage{}));
  EXPECT_EQ(table_->appended_events(), 3);
  // Events from before the start of the process do not count.
  Reopen();
  EXPECT_EQ(table_->appended_events(), 0);
  ASSERT_OK(Record(AgentMessage{}));
  EXPECT_EQ(table_->appended_events(), 1);
  // Deleted events stay counted.
  ASSERT_OK(Delete("s1"));
  EXPECT_EQ(table_->appended_events(), 1);
}

}  // namespace
}  // namespace callslip::tracker
