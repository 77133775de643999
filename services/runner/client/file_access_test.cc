#include "runner/client/file_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class FileAccessTest : public testing::Test {
 protected:
  FileAccessTest() {
    std::string made = testing::TempDir() + "/file-access-XXXXXX";
    base_ = fs::canonical(mkdtemp(made.data()));
    for (const char* dir : {"/dir", "/dir/sub", "/dir-evil", "/more", "/out"}) {
      fs::create_directory(base_ + dir);
    }
    dir_ = base_ + "/dir";
    Put("/out/secret", "secret");
    Put("/dir-evil/secret", "secret");
    Put("/more/file", "more");
    Put("/dir/file", "one\ntwo\nthree\n");
    auto access = FileAccess::Of({FolderWay{dir_}, FolderWay{base_ + "/more"}});
    EXPECT_OK(access);
    access_.emplace(*std::move(access));
  }
  ~FileAccessTest() override { fs::remove_all(base_); }

  void Put(const std::string& path, const std::string& text) {
    std::ofstream(base_ + path) << text;
  }
  std::string Get(const std::string& path) {
    std::ifstream file(base_ + path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string Said(const FileAccess::Done& done) {
    if (const auto* error = std::get_if<RpcError>(&done.answer)) {
      EXPECT_EQ(done.path, "");
      return absl::StrCat(error->code, " ", error->message);
    }
    const Json& result = std::get<Json>(done.answer);
    return result.is_null() ? "written" : result["content"].get<std::string>();
  }
  std::string Read(const std::string& path) {
    return Said(access_->ReadTextFile({{"path", path}}));
  }
  std::string Write(const std::string& path, const std::string& content = "new") {
    return Said(access_->WriteTextFile({{"path", path}, {"content", content}}));
  }
  // Names of all that there is.
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(base_ + path)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string base_;
  std::string dir_;
  std::optional<FileAccess> access_;
};

TEST_F(FileAccessTest, ReadsFileAndReportsPathAndSize) {
  const auto done = access_->ReadTextFile({{"path", dir_ + "/file"}, {"sessionId", "s"}});
  EXPECT_EQ(Said(done), "one\ntwo\nthree\n");
  EXPECT_EQ(done.path, dir_ + "/file");
  EXPECT_EQ(done.bytes, 14);
  EXPECT_EQ(Read(base_ + "/more/file"), "more");
  EXPECT_EQ(Read(dir_ + "//sub/.././file").substr(0, 6), "-32602");
  EXPECT_EQ(Read(dir_ + "/./sub/"), "-32602 sub is a directory");
}

TEST_F(FileAccessTest, ReadsLines) {
  const auto lines = [&](const Json& line, const Json& limit) {
    return Said(
        access_->ReadTextFile({{"path", dir_ + "/file"}, {"line", line}, {"limit", limit}}));
  };
  EXPECT_EQ(lines(2, nullptr), "two\nthree\n");
  EXPECT_EQ(lines(2, 1), "two\n");
  EXPECT_EQ(lines(nullptr, 2), "one\ntwo\n");
  EXPECT_EQ(lines(1, 0), "");
  EXPECT_EQ(lines(3, 100), "three\n");
  EXPECT_EQ(lines(4, 1), "");
  EXPECT_EQ(lines(1'000'000'000'000, 1), "");
  EXPECT_EQ(lines(0, 1), "-32602 `line` has to be a whole number, 1 or more");
  EXPECT_EQ(lines(1, -1), "-32602 `limit` has to be a whole number, 0 or more");
  EXPECT_EQ(lines("1", 1), "-32602 `line` has to be a whole number, 1 or more");
}

TEST_F(FileAccessTest, WritesFileAndReportsPathAndSize) {
  const auto done = access_->WriteTextFile({{"path", dir_ + "/sub/new"}, {"content", "n\xc3\xa4"}});
  EXPECT_EQ(Said(done), "written");
  EXPECT_EQ(done.path, dir_ + "/sub/new");
  EXPECT_EQ(done.bytes, 3);
  EXPECT_EQ(Get("/dir/sub/new"), "n\xc3\xa4");
  EXPECT_EQ(Write(dir_ + "/a/b/c/new"), "written");
  EXPECT_EQ(Get("/dir/a/b/c/new"), "new");
  EXPECT_EQ(Write(dir_ + "/sub/new", ""), "written");
  EXPECT_EQ(Get("/dir/sub/new"), "");
  EXPECT_THAT(Names("/dir/sub"), ElementsAre("new"));  // No temporary file is left.
}

TEST_F(FileAccessTest, WriteKeepsModeAndLeavesOtherHardLinksUntouched) {
  ASSERT_EQ(chmod((dir_ + "/file").c_str(), 04751), 0);
  fs::create_hard_link(dir_ + "/file", base_ + "/out/hard");
  EXPECT_EQ(Write(dir_ + "/file"), "written");
  EXPECT_EQ(fs::status(dir_ + "/file").permissions(), static_cast<fs::perms>(0751));
  EXPECT_EQ(Get("/dir/file"), "new");
  EXPECT_EQ(Get("/out/hard"), "one\ntwo\nthree\n");
}

TEST_F(FileAccessTest, WriteThatIsNoLongerWantedIsRefused) {
  const std::atomic<bool> is_wanted = false;
  for (const char* name : {"/file", "/new"}) {
    EXPECT_THAT(
        Said(access_->WriteTextFile({{"path", dir_ + name}, {"content", "late"}}, is_wanted)),
        HasSubstr("is not to be written any more"));
  }
  EXPECT_EQ(Get("/dir/file"), "one\ntwo\nthree\n");
  EXPECT_THAT(Names("/dir"), ElementsAre("file", "sub"));
}

TEST_F(FileAccessTest, OpenReaderStillSeesWholeOldFile) {
  std::ifstream before(dir_ + "/file");
  EXPECT_EQ(Write(dir_ + "/file"), "written");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(before), {}), "one\ntwo\nthree\n");
}

TEST_F(FileAccessTest, FolderIsAccessibleByItsRealPathToo) {
  fs::create_directory_symlink(dir_, base_ + "/link");
  ASSERT_OK_AND_ASSIGN(const FileAccess access, FileAccess::Of({FolderWay{base_ + "/link/"}}));
  EXPECT_EQ(access.working_directory(), base_ + "/link/");
  for (const char* way : {"/link/file", "/dir/file"}) {
    EXPECT_EQ(Said(access.ReadTextFile({{"path", base_ + way}, {"limit", 1}})), "one\n") << way;
  }
}

TEST_F(FileAccessTest, PathsOutsideAreNeitherReadNorWritten) {
  fs::create_symlink(base_ + "/out/secret", dir_ + "/absolute");
  fs::create_symlink("../out/secret", dir_ + "/relative");
  fs::create_symlink("../../out", dir_ + "/sub/folder");
  fs::create_symlink("../out/none", dir_ + "/dangling-out");
  fs::create_symlink("none", dir_ + "/dangling");
  fs::create_symlink("loop", dir_ + "/loop");
  fs::create_symlink("/proc/self/root" + base_ + "/out/secret", dir_ + "/magic");
  ASSERT_EQ(mkfifo((dir_ + "/fifo").c_str(), 0600), 0);
  for (const std::string& path : {base_ + "/out/secret",
                                  base_ + "/dir-evil/secret",
                                  base_ + "/dir-evil",
                                  dir_ + "-evil/new",
                                  dir_ + "/../out/secret",
                                  dir_ + "/sub/../../out/secret",
                                  dir_ + "/..",
                                  dir_ + "/absolute",
                                  dir_ + "/relative",
                                  dir_ + "/sub/folder/secret",
                                  dir_ + "/sub/folder/new",
                                  dir_ + "/dangling-out",
                                  dir_ + "/dangling",
                                  dir_ + "/loop",
                                  dir_ + "/magic",
                                  dir_ + "/fifo",
                                  dir_ + "/sub",
                                  dir_,
                                  dir_ + "/",
                                  dir_ + "/file/below",
                                  std::string("file"),
                                  std::string(""),
                                  std::string("/"),
                                  std::string("/dev/null"),
                                  std::string("/etc/passwd"),
                                  std::string("/proc/self/cwd/x"),
                                  dir_ + "/" + std::string(5'000, 'x'),
                                  dir_ + "/" + std::string(300, 'x'),
                                  dir_ + std::string("/a\0b", 4)}) {
    EXPECT_TRUE(absl::StartsWith(Read(path), "-32")) << path;
    EXPECT_TRUE(absl::StartsWith(Write(path), "-32")) << path;
  }
  EXPECT_EQ(Get("/out/secret"), "secret");
  EXPECT_THAT(Names("/out"), ElementsAre("secret"));
  EXPECT_THAT(Names("/dir-evil"), ElementsAre("secret"));
  EXPECT_THAT(Names("/dir"), ElementsAre("absolute", "dangling", "dangling-out", "fifo", "file",
                                         "loop", "magic", "relative", "sub"));
  EXPECT_EQ(Get("/dir/file"), "one\ntwo\nthree\n");
}

TEST_F(FileAccessTest, DeviceInsideIsNotOpened) {
  ASSERT_OK_AND_ASSIGN(const FileAccess access, FileAccess::Of({FolderWay{"/dev"}}));
  EXPECT_EQ(Said(access.ReadTextFile({{"path", "/dev/zero"}})),
            "-32602 zero is not a regular file");
  EXPECT_EQ(Said(access.WriteTextFile({{"path", "/dev/null"}, {"content", "x"}})),
            "-32602 null is not a regular file");
  struct stat about = {};
  ASSERT_EQ(stat("/dev/null", &about), 0);
  EXPECT_TRUE(S_ISCHR(about.st_mode));
}

TEST_F(FileAccessTest, LinksInsideAreFollowedAndStayLinks) {
  fs::create_symlink("sub/../file", dir_ + "/link");
  fs::create_symlink("link", dir_ + "/link-to-link");
  fs::create_directory_symlink("sub", dir_ + "/folder");
  EXPECT_EQ(Read(dir_ + "/link-to-link"), "one\ntwo\nthree\n");
  EXPECT_EQ(Write(dir_ + "/link-to-link"), "written");
  EXPECT_EQ(Get("/dir/file"), "new");
  EXPECT_TRUE(fs::is_symlink(dir_ + "/link"));
  EXPECT_EQ(Write(dir_ + "/folder/new"), "written");
  EXPECT_EQ(Get("/dir/sub/new"), "new");
}

TEST_F(FileAccessTest, ErrorsExplainTheProblem) {
  EXPECT_EQ(Read(dir_ + "/none"), "-32002 none is not there");
  EXPECT_EQ(Read("file"), "-32602 \"file\" is not an absolute path");
  EXPECT_EQ(Read(base_ + "/dir-evil/secret"),
            "-32602 " + base_ + "/dir-evil/secret is outside of the session's directories (" +
                dir_ + ", " + base_ + "/more)");
  EXPECT_EQ(Read(dir_ + "/../out"),
            "-32602 " + dir_ + "/../out has \"..\" in it: write where that leads to");
  Put("/dir/binary", "\xff\xfe");
  EXPECT_EQ(Read(dir_ + "/binary"), "-32602 " + dir_ + "/binary is not UTF-8 text");
  EXPECT_EQ(Write(dir_ + "/new", "\xff"), "-32602 `content` is not UTF-8");
  EXPECT_EQ(Said(access_->ReadTextFile({{"path", 1}})), "-32602 `path` has to be a text");
  EXPECT_EQ(Said(access_->WriteTextFile({{"path", dir_ + "/new"}})),
            "-32602 `content` has to be a text");
  EXPECT_FALSE(FileAccess::Of({}).ok());
  EXPECT_FALSE(FileAccess::Of({FolderWay{"relative"}}).ok());
  EXPECT_FALSE(FileAccess::Of({FolderWay{dir_ + "/file"}}).ok());
}

// Each folder of the way is inside the one before it, even after one of them was replaced.
TEST_F(FileAccessTest, LinkOutOfFolderOnTheWayIsRefused) {
  fs::create_directories(dir_ + "/team/app/sub");
  const std::string team = dir_ + "/team", app = dir_ + "/team/app";
  struct Row {
    std::string what;    // Is replaced,
    std::string target;  // by a link to this; empty: it is only removed.
    std::string said;    // The error; empty: the app is where it was, or inside.
  };
  const Row rows[] = {
      {team, base_ + "/out", team + " leads out of " + dir_},
      {team, "../out", team + " leads out of " + dir_},
      {team, "/", team + " leads out of " + dir_},
      {team, "", team + " is not there"},
      {team, "other", ""},
      {team, dir_ + "/other", ""},
      {app, "/", app + " leads out of " + team},
      {app, base_ + "/out", app + " leads out of " + team},
      {app, "../other/app", app + " leads out of " + team},
      {app, dir_ + "/other/app", app + " leads out of " + team},
      {app, "app", "app has a symbolic link too many"},
      {app, "", app + " is not there"},
      {app, "inside", ""},
      {app, team + "/inside", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what + " -> " + row.target);
    fs::create_directories(dir_ + "/other/app/sub");
    fs::create_directories(dir_ + "/team/inside/sub");
    fs::rename(row.what, base_ + "/kept");
    if (!row.target.empty()) fs::create_directory_symlink(row.target, row.what);
    const auto access = FileAccess::Of({FolderWay{dir_, team, app}});
    EXPECT_EQ(access.status().message(), row.said);
    if (access.ok()) {
      EXPECT_EQ(Said(access->WriteTextFile({{"path", app + "/sub/new"}, {"content", "new"}})),
                "written");
    }
    fs::remove(row.what);
    fs::rename(base_ + "/kept", row.what);
  }
  EXPECT_FALSE(FileAccess::Of({FolderWay{dir_, base_ + "/out"}}).ok());
  // An additional folder may be missing.
  const auto access = FileAccess::Of({FolderWay{dir_}, FolderWay{dir_, dir_ + "/none"}});
  ASSERT_OK(access);
  EXPECT_THAT(Said(access->ReadTextFile({{"path", dir_ + "/none/file"}})), HasSubstr("not there"));
}

// An agent can do this if it may write to the folder that contains its own.
TEST_F(FileAccessTest, OpenFolderStaysInUseWhenItsPathIsReplaced) {
  fs::create_directory(dir_ + "/app");
  Put("/dir/app/file", "mine");
  ASSERT_OK_AND_ASSIGN(const FileAccess access, FileAccess::Of({FolderWay{dir_, dir_ + "/app"}}));
  fs::rename(dir_ + "/app", dir_ + "/app.was");
  fs::create_directory_symlink("/", dir_ + "/app");
  const std::string secret = dir_ + "/app" + base_ + "/out/secret";
  EXPECT_THAT(Said(access.ReadTextFile({{"path", secret}})), HasSubstr("not there"));
  EXPECT_EQ(Said(access.ReadTextFile({{"path", dir_ + "/app/file"}})), "mine");
  const std::string outside = dir_ + "/app" + base_ + "/out/new";
  EXPECT_EQ(Said(access.WriteTextFile({{"path", outside}, {"content", "x"}})), "written");
  EXPECT_EQ(Get("/dir/app.was" + base_ + "/out/new"), "x");
  EXPECT_THAT(Names("/out"), ElementsAre("secret"));
  const std::string folder = absl::StrCat("/proc/self/fd/", access.working_folder()->descriptor());
  EXPECT_EQ(fs::canonical(folder), dir_ + "/app.was");
}

TEST_F(FileAccessTest, FileSizeIsLimited) {
  const std::string most(FileAccess::kMaxBytes, 'x');
  EXPECT_EQ(Write(dir_ + "/large", most), "written");
  EXPECT_EQ(Read(dir_ + "/large"), most);
  EXPECT_THAT(Write(dir_ + "/large", most + "x"), HasSubstr("10 MiB"));
  EXPECT_EQ(fs::file_size(dir_ + "/large"), most.size());
  Put("/dir/large", most + "x");
  EXPECT_THAT(Read(dir_ + "/large"), HasSubstr("10 MiB"));
}

// A folder on the way, and the file itself, are swapped with links out of the folder all the time.
TEST_F(FileAccessTest, ConcurrentSwapsNeverLeadOutside) {
  Put("/dir/sub/secret", "inside");
  fs::create_symlink("../out", dir_ + "/trap");
  fs::create_symlink("../../out/secret", dir_ + "/trap-file");
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    // With descriptors, so that the swaps themselves do not follow the links.
    const File dir(open(dir_.c_str(), O_PATH | O_DIRECTORY));
    const File sub(openat(dir.descriptor(), "sub", O_PATH | O_DIRECTORY));
    while (!done) {
      renameat2(dir.descriptor(), "sub", dir.descriptor(), "trap", RENAME_EXCHANGE);
      renameat2(sub.descriptor(), "secret", dir.descriptor(), "trap-file", RENAME_EXCHANGE);
    }
  });
  int inside = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::string read = Read(dir_ + "/sub/secret");
    EXPECT_NE(read, "secret");
    if (read == "inside") ++inside;
    Write(dir_ + "/sub/secret", "inside");
    Write(dir_ + "/sub/new", "inside");
  }
  done = true;
  swapper.join();
  EXPECT_GT(inside, 0);
  EXPECT_EQ(Get("/out/secret"), "secret");
  EXPECT_THAT(Names("/out"), ElementsAre("secret"));
}

}  // namespace
}  // namespace callslip::runner
