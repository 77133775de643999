#include "bridge/clients/file_replacement.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

namespace fs = std::filesystem;

class FileReplacementTest : public testing::Test {
 protected:
  FileReplacementTest() {
    std::string folder = testing::TempDir() + "replacement-XXXXXX";
    folder_ = fs::canonical(mkdtemp(folder.data())).string();
  }
  ~FileReplacementTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }

  void Write(const std::string& name, absl::string_view content, mode_t mode = 0644) const {
    std::ofstream(Path(name)) << content;
    chmod(Path(name).c_str(), mode);
  }

  static std::string Content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static mode_t ModeOf(const std::string& path) {
    struct stat found = {};
    return stat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
  }

  size_t CountFiles() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  std::string folder_;
  const absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
};

TEST_F(FileReplacementTest, KeepsModeAndBackupCopy) {
  Write("f", "old", 0640);
  const auto file = ReadForReplacement(Path("f"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->content, "old");
  const auto copy = Replace(*file, "new", now_);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_TRUE(absl::StartsWith(*copy, Path("f.callslip-backup-"))) << *copy;
  EXPECT_EQ(Content(*copy), "old");
  EXPECT_EQ(Content(Path("f")), "new");
  EXPECT_EQ(ModeOf(Path("f")), 0640u);
  EXPECT_EQ(ModeOf(*copy), 0640u);
  EXPECT_EQ(CountFiles(), 2u);
}

TEST_F(FileReplacementTest, CopiesDoNotOverwriteEachOther) {
  std::vector<std::string> copies;
  for (const char* content : {"1", "2", "3"}) {
    Write("f", content);
    copies.push_back(Replace(*ReadForReplacement(Path("f")), "new", now_).value());
  }
  EXPECT_EQ(Content(copies[0]), "1");
  EXPECT_EQ(Content(copies[1]), "2");
  EXPECT_EQ(Content(copies[2]), "3");
}

TEST_F(FileReplacementTest, CreatesFileWithItsFolders) {
  const auto file = ReadForReplacement(Path("a/b/f"));
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(file->exists);
  EXPECT_EQ(Replace(*file, "new", now_).value(), "");
  EXPECT_EQ(Content(Path("a/b/f")), "new");
  EXPECT_EQ(ModeOf(Path("a/b/f")), 0600u);
  EXPECT_EQ(ModeOf(Path("a/b")), 0700u);
}

TEST_F(FileReplacementTest, SymlinkIsPreserved) {
  fs::create_directory(Path("real"));
  Write("real/f", "old");
  fs::create_symlink("real/f", Path("link"));
  const auto file = ReadForReplacement(Path("link"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->path, Path("real/f"));
  ASSERT_TRUE(Replace(*file, "new", now_).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Content(Path("real/f")), "new");
}

TEST_F(FileReplacementTest, ConcurrentChangesAreNotOverwritten) {
  Write("f", "old");
  const auto file = ReadForReplacement(Path("f"));
  const auto none = ReadForReplacement(Path("g"));
  Write("f", "theirs");
  Write("g", "theirs");
  EXPECT_EQ(Replace(*file, "new", now_).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Replace(*none, "new", now_).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Content(Path("f")), "theirs");
  EXPECT_EQ(Content(Path("g")), "theirs");
  EXPECT_EQ(CountFiles(), 2u);
}

TEST_F(FileReplacementTest, UnsuitableFilesAreRefused) {
  Write("protected", "x", 0444);
  fs::create_directory(Path("folder"));
  fs::create_symlink("nowhere", Path("dangling"));
  fs::create_symlink("circle", Path("circle"));
  mkfifo(Path("pipe").c_str(), 0600);
  Write("twice", "x");
  fs::create_hard_link(Path("twice"), Path("twin"));
  Write("large", "");
  fs::resize_file(Path("large"), kMaxConfigurationBytes + 1);
  for (const char* name : {"protected", "folder", "dangling", "circle", "pipe", "twice", "large"}) {
    EXPECT_FALSE(ReadForReplacement(Path(name)).ok()) << name;
  }
}

}  // namespace
}  // namespace callslip::bridge
