#include "tracker/storage/session_inspection.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/session/session_table_fixture.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/file_session_storage.h"

namespace callslip::tracker {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const absl::Time kNoon = absl::FromUnixSeconds(1'769'947'200);

class SessionInspectionTest : public testing::Test {
 protected:
  void Create(const std::string& id, absl::Time at) {
    const auto storage = FileSessionStorage::Open(folder_.path(), &disk_);
    ASSERT_OK(storage);
    SessionMetadata metadata{.session_id = id, .created_at = at, .updated_at = at};
    ASSERT_OK((*storage)->Create(metadata));
    // The tests write the logs themselves.
    std::filesystem::resize_file(FileOf(id, "events.jsonl"), 0);
  }

  void Append(const std::string& id, const char* file, const std::string& text) {
    std::ofstream(FileOf(id, file), std::ios::app) << text;
  }
  std::string FileOf(const std::string& id, const char* file) {
    return folder_.path() + "/sessions/" + id + "/" + file;
  }

  std::vector<SessionInspection> Inspect() { return *InspectSessions(folder_.path()); }

  TemporaryFolder folder_;
  Disk disk_;
};

TEST_F(SessionInspectionTest, MissingDirectoryIsErrorAndEmptyOneHasNoSessions) {
  EXPECT_EQ(InspectSessions(folder_.path() + "/none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Inspect(), IsEmpty());
  EXPECT_THAT(std::filesystem::directory_iterator(folder_.path()),
              std::filesystem::directory_iterator());
}

TEST_F(SessionInspectionTest, LastChangedSessionComesFirst) {
  Create("older", kNoon);
  Create("newer", kNoon + absl::Hours(1));
  const auto sessions = Inspect();
  ASSERT_THAT(sessions, SizeIs(2));
  EXPECT_EQ(sessions[0].id, "newer");
  EXPECT_EQ(sessions[1].id, "older");
  EXPECT_EQ(sessions[1].metadata->updated_at, kNoon);
}

TEST_F(SessionInspectionTest, ReportsTornEventAndLeavesItAlone) {
  Create("torn", kNoon);
  Append("torn", "events.jsonl",
         R"({"seq":1})"
         "\n"
         R"({"se)");
  const auto before = std::filesystem::last_write_time(FileOf("torn", "events.jsonl"));
  const auto sessions = Inspect();
  ASSERT_THAT(sessions, SizeIs(1));
  EXPECT_EQ(sessions[0].log_bytes, 14);
  EXPECT_EQ(sessions[0].events, 1);
  EXPECT_EQ(sessions[0].torn_bytes, 4);
  EXPECT_EQ(std::filesystem::file_size(FileOf("torn", "events.jsonl")), 14);
  EXPECT_EQ(std::filesystem::last_write_time(FileOf("torn", "events.jsonl")), before);
}

TEST_F(SessionInspectionTest, CountsEventsMissingFromMetadata) {
  Create("fresh", kNoon);
  Append("fresh", "events.jsonl", "{}\n{}\n{}\n");
  const auto sessions = Inspect();
  ASSERT_THAT(sessions, SizeIs(1));
  EXPECT_EQ(sessions[0].events, 3);
  EXPECT_EQ(sessions[0].torn_bytes, 0);
}

TEST_F(SessionInspectionTest, FindsLastNewlineFarFromEnd) {
  Create("long", kNoon);
  Append("long", "events.jsonl", "{}\n" + std::string(200'000, 'x'));
  EXPECT_EQ(Inspect().at(0).torn_bytes, 200'000);
}

TEST_F(SessionInspectionTest, ReportsDamagedMetadataAndQueue) {
  Create("damaged", kNoon);
  Append("damaged", "metadata.json", "}");
  Append("damaged", "queue.json", "{");
  const auto sessions = Inspect();
  ASSERT_THAT(sessions, SizeIs(1));
  EXPECT_FALSE(sessions[0].metadata.has_value());
  EXPECT_TRUE(sessions[0].is_queue_damaged);
}

TEST_F(SessionInspectionTest, UnreadableSessionDoesNotHideOthers) {
  Create("hidden", kNoon);
  Create("whole", kNoon + absl::Hours(1));
  std::filesystem::remove(FileOf("hidden", "events.jsonl"));
  std::filesystem::create_symlink("events.jsonl", FileOf("hidden", "events.jsonl"));
  std::ofstream(folder_.path() + "/sessions/notes") << "a stray file";
  const auto sessions = Inspect();
  ASSERT_THAT(sessions, SizeIs(2));
  EXPECT_EQ(sessions[0].id, "whole");
  EXPECT_EQ(sessions[0].damage, "");
  EXPECT_THAT(sessions[1].damage, testing::HasSubstr("events.jsonl"));
}

TEST_F(SessionInspectionTest, ShowsTheQueue) {
  Create("queued", kNoon);
  Append("queued", "queue.json", EncodeQueue({QueuedMessage{.id = "q-1-00000000"}}, {}, kNoon));
  const auto sessions = Inspect();
  ASSERT_THAT(sessions, SizeIs(1));
  ASSERT_TRUE(sessions[0].queue.has_value());
  EXPECT_THAT(sessions[0].queue->messages, SizeIs(1));
  EXPECT_FALSE(sessions[0].is_queue_damaged);
}

}  // namespace
}  // namespace callslip::tracker
