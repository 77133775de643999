#include "bridge/relay/local_files.h"

#include <filesystem>
#include <fstream>

#include "bridge/relay/agent_roots.h"
#include "bridge/relay/limits.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip::bridge {
namespace {

namespace fs = std::filesystem;

class LocalFilesTest : public testing::Test {
 protected:
  LocalFilesTest() {
    for (const char* folder : {"work", "work/in", "other"}) fs::create_directory(Path(folder));
    Write("work/a.TXT", "abc");
    Write("work/in/b", "");
    Write("other/secret", "s");
  }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& content) {
    std::ofstream(Path(name)) << content;
  }
  std::variant<std::vector<LocalFile>, Failure> Read(const std::vector<std::string>& paths) const {
    return ReadLocalFiles({Path("work")}, paths);
  }
  std::string ReasonOf(const std::vector<std::string>& paths) const {
    const auto read = Read(paths);
    const auto* failure = std::get_if<Failure>(&read);
    return failure == nullptr ? "" : failure->reason;
  }

  TemporaryFolder folder_;
};

TEST_F(LocalFilesTest, FilesInFolderAreReadByAnyPath) {
  const auto read =
      Read({"a.TXT", Path("work/in/b"), "in/../a.TXT", Path("other/../work/./a.TXT")});
  const auto& files = std::get<std::vector<LocalFile>>(read);
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].name, "a.TXT");
  EXPECT_EQ(files[0].mime_type, "text/plain");
  EXPECT_EQ(files[0].content, "abc");
  EXPECT_EQ(files[1].content, "");
  EXPECT_EQ(files[1].mime_type, "");
  EXPECT_EQ(files[3].content, "abc");
}

TEST_F(LocalFilesTest, PathsCannotLeaveFolder) {
  fs::create_symlink(Path("other/secret"), Path("work/link"));
  fs::create_symlink("../other", Path("work/folder"));
  fs::create_symlink("a.TXT", Path("work/same"));
  for (const std::string& path :
       {Path("other/secret"), std::string("../other/secret"), std::string("link"),
        std::string("folder/secret"), Path("work-evil"), std::string("/etc/passwd"),
        std::string("in"), std::string("."), std::string("none"), std::string("/proc/self/root"),
        Path("work"), std::string("in/../../other/secret")}) {
    EXPECT_EQ(ReasonOf({path}), "file_unavailable") << path;
  }
  EXPECT_EQ(ReasonOf({"same"}), "") << "a link within the folder";
  EXPECT_EQ(ReasonOf({"a.TXT", "none"}), "file_unavailable") << "all, or none";
}

TEST_F(LocalFilesTest, SeveralFoldersAndLinkedFolderAreAllowed) {
  fs::create_directory_symlink(Path("work"), Path("alias"));
  const auto read = ReadLocalFiles({Path("alias"), Path("other")},
                                   {"a.TXT", Path("work/a.TXT"), Path("other/secret")});
  EXPECT_TRUE(std::holds_alternative<std::vector<LocalFile>>(read));
}

TEST_F(LocalFilesTest, TotalSizeOfFilesIsLimited) {
  const auto size = [&](const char* name, size_t bytes) {
    Write(name, "");
    fs::resize_file(Path(name), bytes);
  };
  size("work/most", kMaxUploadBytes);
  EXPECT_EQ(ReasonOf({"most"}), "");
  size("work/more", kMaxUploadBytes + 1);
  EXPECT_EQ(ReasonOf({"more"}), "file_too_large");
  EXPECT_EQ(ReasonOf({"a.TXT", "most"}), "file_too_large");
}

TEST(PathOfFileUrlTest, OnlyLocalFileUrlsHavePath) {
  EXPECT_EQ(PathOfFileUrl("file:///home/me/a%20b"), "/home/me/a b");
  EXPECT_EQ(PathOfFileUrl("file://localhost/a"), "/a");
  for (const char* url : {"file://server/a", "https://x/", "/a", "file:///a%0", "file:///a%00b"}) {
    EXPECT_EQ(PathOfFileUrl(url), std::nullopt) << url;
  }
}

}  // namespace
}  // namespace callslip::bridge
