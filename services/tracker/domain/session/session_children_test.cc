// Sessions that agents create.
#include <string>

#include "absl/strings/str_cat.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

class SessionChildrenTest : public SessionTableTest {
 protected:
  absl::StatusOr<SessionMetadata> CreateChild(const std::string& id, const std::string& parent,
                                              bool detached = false) {
    return Create(
        SessionRequest{.session_id = id, .parent_session_id = parent, .detached = detached});
  }
  absl::Status End(const std::string& id) {
    return Run([](Session& s, absl::Time now) { return s.End("done", now); }, id);
  }
  // The reason of the session's end. Waits for it, and reads the session, not the list.
  std::string EndOf(const std::string& id) {
    const auto feed = Subscribe(0, id);
    while (true) {
      const EventPtr event = feed->NextOf<EventPtr>();
      if (event->type == "session_end") return MemberOf(event, "reason");
    }
  }
  SessionState StateOf(const std::string& id) { return table_->Get(id)->state; }
};

TEST_F(SessionChildrenTest, EndWithTheirParentUnlessTheyAreDetached) {
  ASSERT_OK(Create("a"));
  ASSERT_OK(CreateChild("b", "a"));
  ASSERT_OK(CreateChild("c", "b"));
  ASSERT_OK(CreateChild("d", "a", true));
  ASSERT_OK(End("a"));
  EXPECT_EQ(EndOf("b"), "parent_ended");
  EXPECT_EQ(EndOf("c"), "parent_ended");
  EXPECT_EQ(StateOf("d"), SessionState::kActive);
}

TEST_F(SessionChildrenTest, EndWhenParentIsDeletedOrArchived) {
  for (const char* id : {"a", "x"}) ASSERT_OK(Create(id));
  ASSERT_OK(CreateChild("b", "a"));
  ASSERT_OK(CreateChild("y", "x"));
  ASSERT_OK(Delete("a"));
  EXPECT_EQ(EndOf("b"), "parent_ended");
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Archive(true, now); }, "x"));
  EXPECT_EQ(EndOf("y"), "parent_ended");
}

TEST_F(SessionChildrenTest, EndAfterRestartIfTrackerWasKilledAfterParentsEnd) {
  CALLSLIP_ABOUT_FILES();
  for (const char* id : {"a", "x"}) ASSERT_OK(Create(id));
  ASSERT_OK(CreateChild("b", "a"));
  ASSERT_OK(CreateChild("d", "a", true));
  ASSERT_OK(CreateChild("y", "x"));
  Close();
  // As if the tracker was killed after the end of the parents and before that of the children.
  const std::string parent = *disk_.ReadFile(PathOf("metadata.json", "a"), size_t{1} << 20);
  std::string ended = parent;
  ended.replace(ended.find("\"active\""), 8, "\"completed\"");
  ASSERT_OK(disk_.ReplaceFile(folder_.path() + "/sessions/a", "metadata.json", ended));
  std::filesystem::remove_all(folder_.path() + "/sessions/x");
  Reopen();
  EXPECT_EQ(EndOf("b"), "parent_ended");
  EXPECT_EQ(EndOf("y"), "parent_ended");
  EXPECT_EQ(StateOf("d"), SessionState::kActive);
}

TEST_F(SessionChildrenTest, ResumedChildBecomesDetached) {
  ASSERT_OK(Create("a"));
  ASSERT_OK(CreateChild("b", "a"));
  ASSERT_OK(End("a"));
  EXPECT_EQ(EndOf("b"), "parent_ended");
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Resume(now); }, "b"));
  Reopen();
  EXPECT_EQ(StateOf("b"), SessionState::kActive);
  EXPECT_TRUE(table_->Get("b")->detached);
}

TEST_F(SessionChildrenTest, NeedActiveParentAndAreAtMostTwoLevelsDeep) {
  EXPECT_THAT(CreateChild("b", "a"), kUnknown);
  ASSERT_OK(Create("a"));
  ASSERT_OK(CreateChild("b", "a"));
  ASSERT_OK(CreateChild("c", "b"));
  const auto too_deep = FailsWith(absl::StatusCode::kFailedPrecondition, "too_deep");
  EXPECT_THAT(CreateChild("d", "c", true), too_deep);
  // A session does not become less deep when its parent's parent is deleted.
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("done", now); }, "c"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Resume(now); }, "c"));
  ASSERT_OK(Delete("a"));
  EXPECT_EQ(EndOf("b"), "parent_ended");
  Reopen();
  EXPECT_THAT(CreateChild("d", "c"), too_deep);
  EXPECT_THAT(CreateChild("d", "b"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "session_ended"));
}

TEST_F(SessionChildrenTest, AreLimitedToEightActivePerParent) {
  ASSERT_OK(Create("a"));
  for (size_t i = 0; i < kMaxActiveChildren; ++i) {
    ASSERT_OK(CreateChild(absl::StrCat("b", i), "a", i % 2 == 0));
  }
  const auto too_many = FailsWith(absl::StatusCode::kResourceExhausted, "too_many_children");
  EXPECT_THAT(CreateChild("c", "a"), too_many);
  Reopen();
  EXPECT_THAT(CreateChild("c", "a"), too_many);
  ASSERT_OK(End("b0"));
  // A child that could not be created takes no place.
  EXPECT_THAT(CreateChild("a", "a"), FailsWith(absl::StatusCode::kAlreadyExists, "session_exists"));
  EXPECT_OK(CreateChild("c", "a"));
  EXPECT_THAT(CreateChild("d", "a"), too_many);
}

}  // namespace
}  // namespace callslip::tracker
