#include "common/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip {
namespace {

// A socket that listens at `path` until it is closed, which leaves the path.
int ListenAt(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  EXPECT_EQ(listen(fd, 1), 0);
  return fd;
}

TEST(UnixSocketTest, PathIsFreeOnceItsListenerIsGone) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/socket";
  EXPECT_TRUE(PrepareSocketPath(path).ok());
  const int listener = ListenAt(path);
  EXPECT_TRUE(IsSocketInUse(path));
  EXPECT_TRUE(absl::IsUnavailable(PrepareSocketPath(path)));
  close(listener);
  EXPECT_FALSE(IsSocketInUse(path));
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
  EXPECT_TRUE(PrepareSocketPath(path).ok());
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(UnixSocketTest, FileThatIsNotASocketStays) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << "text";
  EXPECT_TRUE(absl::IsInvalidArgument(PrepareSocketPath(path)));
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(PrepareSocketPath("/" + std::string(200, 'x'))));
}

TEST(UnixSocketTest, GroupCanConnectIfFolderIsForGroupOnly) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/socket";
  for (const auto& [folder_mode, mode] :
       {std::pair(0700u, 0600u), {0750u, 0660u}, {0755u, 0600u}, {0777u, 0600u}}) {
    ASSERT_EQ(chmod(folder.path().c_str(), folder_mode), 0);
    EXPECT_EQ(SocketMode(path), mode) << std::oct << folder_mode;
  }
}

}  // namespace
}  // namespace callslip
