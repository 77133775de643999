#include "common/file_watch.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/random.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

class FileWatchTest : public testing::Test {
 protected:
  FileWatchTest() { std::filesystem::create_directory(folder_); }
  ~FileWatchTest() override { std::filesystem::remove_all(folder_); }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / absl::StrCat("callslip-", RandomHex128());
  const std::string path_ = (folder_ / "watched").string();
  int changes_ = 0;
};

TEST_F(FileWatchTest, ReportsEveryChangeOnce) {
  FileWatch watch(
      {path_}, [this] { ++changes_; }, absl::InfiniteDuration());
  EXPECT_TRUE(watch.Look());
  EXPECT_FALSE(watch.Look());
  Write(path_, "made");
  EXPECT_TRUE(watch.Look());
  EXPECT_FALSE(watch.Look());
  Write(path_, "written to");
  EXPECT_TRUE(watch.Look());
  Write(path_ + ".new", "written to");
  std::filesystem::rename(path_ + ".new", path_);
  EXPECT_TRUE(watch.Look());
  std::filesystem::remove(path_);
  EXPECT_TRUE(watch.Look());
  EXPECT_FALSE(watch.Look());
  EXPECT_EQ(changes_, 5);
}

TEST_F(FileWatchTest, LooksPeriodically) {
  Notification changed;
  const FileWatch watch(
      {path_}, [&] { changed.Notify(); }, absl::Milliseconds(1));
  changed.Wait();
}

}  // namespace
}  // namespace callslip
