#include "bridge/service/autostart_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

class AutostartFilesTest : public testing::Test {
 protected:
  AutostartFilesTest() {
    std::string folder = testing::TempDir() + "autostart-XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~AutostartFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }

  std::string Content(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
};

TEST_F(AutostartFilesTest, LogStaysBoundedWhileOthersAppend) {
  const std::string path = Path("log");
  const int writer = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const auto append = [&](const std::string& text) {
    ASSERT_EQ(write(writer, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  append("12345678");
  BoundLog(path, 8);
  EXPECT_EQ(Content("log"), "12345678");
  append("9abcdef");
  BoundLog(path, 8);
  EXPECT_EQ(Content("log"), "");
  EXPECT_EQ(Content("log.old"), "89abcdef");
  append("more");
  BoundLog(path, 8);
  EXPECT_EQ(Content("log"), "more");
  append(std::string(1 << 20, '.') + "the end!");
  BoundLog(path, 8);
  EXPECT_EQ(Content("log.old"), "the end!");
  close(writer);
  BoundLog(Path("none"), 8);
  EXPECT_FALSE(std::filesystem::exists(Path("none")));
}

TEST_F(AutostartFilesTest, TouchUpdatesFileTimes) {
  const std::string path = Path("lock");
  std::ofstream(path).close();
  const timespec long_ago[] = {{.tv_sec = 1'000, .tv_nsec = 0}, {.tv_sec = 1'000, .tv_nsec = 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  Touch({path, Path("none")});
  struct stat found = {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_GT(found.st_mtime, 1'000);
  EXPECT_GT(found.st_atime, 1'000);
  EXPECT_FALSE(std::filesystem::exists(Path("none")));
}

TEST_F(AutostartFilesTest, LockOfReplacedFileIsDetected) {
  const std::string path = Path("lock");
  ASSERT_OK_AND_ASSIGN(const int held, OpenAndLock(path, LOCK_EX));
  EXPECT_TRUE(IsAt(held, path));
  std::filesystem::remove(path);
  EXPECT_FALSE(IsAt(held, path));
  // Another program finds no file and creates one.
  ASSERT_OK_AND_ASSIGN(const int other, OpenAndLock(path, LOCK_EX));
  EXPECT_TRUE(IsAt(other, path));
  EXPECT_FALSE(IsAt(held, path));
  close(held);
  close(other);
}

}  // namespace
}  // namespace callslip::bridge
