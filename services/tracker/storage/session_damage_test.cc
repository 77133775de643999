// Files that can't be read, or have wrong contents: they affect their own session only.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const auto kFailed = FailsWith(absl::StatusCode::kUnavailable, "storage_failed");

class SessionDamageTest : public SessionTableTest {
 protected:
  SessionDamageTest() {
    EXPECT_OK(Create(SessionRequest{.session_id = "s1", .name = "My task", .owner = "ann"}));
    EXPECT_OK(Create(SessionRequest{.session_id = "s2", .owner = "bob"}));
    for (const char* text : {"one", "two"}) EXPECT_OK(Record(AgentMessage{text}));
  }

  // Replaces the file by one that no process can open.
  void Hide(const std::string& name) {
    fs::rename(PathOf(name), PathOf(name + ".hidden"));
    fs::create_symlink(name, PathOf(name));
  }
  void Restore(const std::string& name) {
    fs::remove(PathOf(name));
    fs::rename(PathOf(name + ".hidden"), PathOf(name));
  }
  std::vector<std::string> Listed(const ClientScope& clients) {
    std::vector<std::string> ids;
    const SessionPage page = *table_->List({.clients = clients}, 0, "");
    for (const SessionMetadata& session : page.sessions) ids.push_back(session.session_id);
    return ids;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (const EventPtr& event : ReadAll()) {
      if (event->type == "agent_message") texts.push_back(MemberOf(event, "text"));
    }
    return texts;
  }
};

TEST_F(SessionDamageTest, SessionWithUnreadableMetadataIsHiddenFromClients) {
  const SessionMetadata before = *table_->Get("s1");
  Close();
  Hide("metadata.json");
  Reopen();
  EXPECT_THAT(Listed(kDefaultClient), ElementsAre());
  EXPECT_THAT(Listed("bob"), ElementsAre("s2"));
  EXPECT_THAT(Listed(ClientScope::All()), UnorderedElementsAre("s1", "s2"));
  EXPECT_THAT(Record(AgentMessage{"three"}), kFailed);
  EXPECT_TRUE(fs::is_symlink(PathOf("metadata.json")));
  // The session works again with its files, without a restart.
  Restore("metadata.json");
  EXPECT_THAT(Texts(), ElementsAre("one", "two"));
  EXPECT_EQ(*table_->Get("s1"), before);
}

TEST_F(SessionDamageTest, OwnerSurvivesMissingMetadata) {
  Close();
  fs::remove(PathOf("metadata.json"));
  Reopen();
  EXPECT_EQ(table_->Get("s1")->owner, "ann");
  EXPECT_THAT(Listed(kDefaultClient), ElementsAre());
}

TEST_F(SessionDamageTest, MalformedMetadataIsMovedAside) {
  Close();
  std::ofstream(PathOf("metadata.json")) << "{\"session_id\": \"s1\", \"crea";
  Reopen();
  EXPECT_EQ(table_->Get("s1")->owner, "ann");
  std::ifstream aside(PathOf("metadata.json.damaged"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(aside), {}),
            "{\"session_id\": \"s1\", \"crea");
}

TEST_F(SessionDamageTest, FileMovedAsideReplacesNoEarlierOne) {
  for (const char* damage : {"first", "second", "third"}) {
    Close();
    std::ofstream(PathOf("metadata.json")) << damage;
    std::ofstream(PathOf("queue.json")) << damage;
    Reopen();
    ASSERT_OK(table_->Get("s1"));
  }
  for (const char* name : {"metadata.json", "queue.json"}) {
    for (const auto& [suffix, damage] :
         {std::pair(".damaged", "first"), {".damaged-2", "second"}, {".damaged-3", "third"}}) {
      std::ifstream aside(PathOf(absl::StrCat(name, suffix)));
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(aside), {}), damage) << name << suffix;
    }
  }
}

// A name in a folder survives a power cut once that folder is synced.
TEST_F(SessionDamageTest, CreatedDataDirectoryIsSyncedIntoItsParent) {
  class SyncedFolders final : public Disk {
   public:
    std::vector<std::string> paths;

   protected:
    absl::Status Do(const DiskStep& step, absl::FunctionRef<absl::Status()> whole) override {
      if (step.kind == DiskStep::Kind::kSyncFolder) paths.push_back(fs::canonical(step.path));
      return whole();
    }
  };
  for (const char* suffix : {"", "/"}) {
    const TemporaryFolder parent;
    SyncedFolders disk;
    ASSERT_OK(FileSessionStorage::Open(parent.path() + "/data" + suffix, &disk));
    EXPECT_THAT(disk.paths, ElementsAre(parent.path(), parent.path() + "/data"));
  }
}

TEST_F(SessionDamageTest, UnreadableLogDoesNotAffectOtherSessions) {
  Close();
  Hide("events.jsonl");
  std::ofstream(folder_.path() + "/sessions/notes") << "a stray file";
  fs::create_directories(folder_.path() + "/sessions/empty");
  fs::create_directories(folder_.path() + "/sessions/.new-x/deep");
  Reopen();
  ASSERT_NE(table_, nullptr);
  EXPECT_THAT(Listed("ann"), ElementsAre("s1"));
  EXPECT_EQ(table_->Get("s1")->name, "My task");
  EXPECT_THAT(Listed(ClientScope::All()), UnorderedElementsAre("s1", "s2"));
  EXPECT_THAT(Record(AgentMessage{"three"}), kFailed);
  EXPECT_OK(Record(AgentMessage{"x"}, "s2"));
  Restore("events.jsonl");
  EXPECT_THAT(Texts(), ElementsAre("one", "two"));
}

TEST_F(SessionDamageTest, SeqsOfLostEventsAreNotReused) {
  ASSERT_OK(Record(AgentMessage{"three"}));  // seq 4
  Close();
  // Its last line is not whole.
  fs::resize_file(PathOf("events.jsonl"), fs::file_size(PathOf("events.jsonl")) - 2);
  Reopen();
  ASSERT_OK_AND_ASSIGN(const EventPtr next, Record(AgentMessage{"four"}));
  EXPECT_EQ(next->seq, 6);
  const std::vector<EventPtr> events = ReadAll();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[3]->seq, 5);
  EXPECT_EQ(events[3]->type, "error");
  EXPECT_EQ(MemberOf(events[3], "code"), "events_lost");
  EXPECT_THAT(MemberOf(events[3], "message"), HasSubstr("4 to 4"));
  Reopen();
  EXPECT_EQ(ReadAll().size(), 5u);
}

}  // namespace
}  // namespace callslip::tracker
