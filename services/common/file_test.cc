#include "common/file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

// A file in memory.
File MakeFile() { return File(memfd_create("file_test", MFD_CLOEXEC)); }

// The same file, opened again as another program would: at its beginning.
File Reopened(const File& file) {
  const std::string path = absl::StrCat("/proc/self/fd/", file.descriptor());
  return File(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

TEST(FileTest, ReadsBackWrittenBytes) {
  const File file = MakeFile();
  ASSERT_TRUE(file.is_open());
  const std::string bytes(100'000, 'a');
  ASSERT_TRUE(WriteAll(file, bytes));
  ASSERT_TRUE(WriteAll(file, ""));
  std::string contents;
  EXPECT_TRUE(ReadAll(Reopened(file), bytes.size(), contents));
  EXPECT_EQ(contents, bytes);
}

TEST(FileTest, ReadsEmptyFile) {
  std::string contents;
  EXPECT_TRUE(ReadAll(MakeFile(), 0, contents));
  EXPECT_EQ(contents, "");
}

TEST(FileTest, RefusesFileLargerThanLimit) {
  const File file = MakeFile();
  ASSERT_TRUE(WriteAll(file, "four"));
  std::string contents;
  EXPECT_TRUE(ReadAll(Reopened(file), 4, contents));
  EXPECT_EQ(contents, "four");
  contents.clear();
  EXPECT_FALSE(ReadAll(Reopened(file), 3, contents));
  EXPECT_EQ(errno, EFBIG);
}

TEST(FileTest, ReportsErrorInErrno) {
  std::string contents;
  EXPECT_FALSE(ReadAll(File(), 10, contents));
  EXPECT_EQ(errno, EBADF);
  EXPECT_FALSE(WriteAll(File(), "a"));
  EXPECT_EQ(errno, EBADF);
  const File full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(WriteAll(full, "a"));
  EXPECT_EQ(errno, ENOSPC);
}

TEST(FileTest, HasOneOwner) {
  File file = MakeFile();
  const int descriptor = file.descriptor();
  File other = std::move(file);
  EXPECT_EQ(other.descriptor(), descriptor);
  other = MakeFile();
  EXPECT_EQ(fcntl(descriptor, F_GETFD), -1);
  other.Close();
  EXPECT_FALSE(other.is_open());
}

}  // namespace
}  // namespace callslip
