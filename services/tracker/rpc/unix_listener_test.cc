// The folder and the mode of the unix socket decide who may connect.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "gtest/gtest.h"
#include "tracker/rpc/access_fixture.h"

namespace callslip::tracker {
namespace {

unsigned ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

class UnixListenerTest : public AccessTest {};

TEST_F(UnixListenerTest, SocketIsOnlyForItsOwner) {
  Serve();
  EXPECT_EQ(ModeOf(folder_.path() + "/tracker.sock"), 0600u);
}

TEST_F(UnixListenerTest, ModeOfEachSocketDependsOnItsFolder) {
  const TemporaryFolder group, everybody;
  ASSERT_EQ(chmod(group.path().c_str(), 0750), 0);
  ASSERT_EQ(chmod(everybody.path().c_str(), 0755), 0);
  const mode_t before = umask(0);
  const auto bound = server_.Start({{.unix_path = folder_.path() + "/socket"},
                                    {.unix_path = group.path() + "/socket"},
                                    {.unix_path = everybody.path() + "/socket"}},
                                   1);
  EXPECT_EQ(umask(before), 0u) << "is as it was before";
  ASSERT_OK(bound);
  EXPECT_EQ(ModeOf((*bound)[0].unix_path), 0600u);
  EXPECT_EQ(ModeOf((*bound)[1].unix_path), 0660u);
  EXPECT_EQ(ModeOf((*bound)[2].unix_path), 0600u);
}

TEST_F(UnixListenerTest, AnotherUserCannotConnect) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Serve();
  // Only the socket's own mode keeps others out.
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  const pid_t other = fork();
  if (other == 0) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    (folder_.path() + "/tracker.sock").copy(name.sun_path, sizeof(name.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool changed = setgid(65534) == 0 && setuid(65534) == 0;
    const int result = connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name));
    _exit(changed && result != 0 && errno == EACCES ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace callslip::tracker
