#include "common/service_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace callslip {
namespace {

// A socket in the abstract namespace that receives the messages for a service manager.
class ServiceNotifyTest : public testing::Test {
 protected:
  ServiceNotifyTest() : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    // The kernel picks a name.
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0);
    socklen_t size = sizeof(address);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    name_ = std::string(address.sun_path, size - offsetof(sockaddr_un, sun_path));
    name_[0] = '@';
  }

  ~ServiceNotifyTest() override {
    unsetenv("NOTIFY_SOCKET");
    close(socket_);
  }

  // The next message; empty if none has arrived.
  std::string Received() const {
    char buffer[64];
    const ssize_t size = recv(socket_, buffer, sizeof(buffer), 0);
    return size < 0 ? "" : std::string(buffer, size);
  }

  std::string name_;
  const int socket_;
};

TEST_F(ServiceNotifyTest, NotifiesSocketInEnvironment) {
  setenv("NOTIFY_SOCKET", name_.c_str(), 1);
  NotifyServiceManager(kServiceReady);
  EXPECT_EQ(Received(), "READY=1");
  NotifyServiceManager(kServiceStopping);
  EXPECT_EQ(Received(), "STOPPING=1");
}

TEST_F(ServiceNotifyTest, DoesNothingWithoutUsableSocket) {
  NotifyServiceManager(kServiceReady);
  for (const std::string& name : {std::string(), std::string("@nobody-listens-here"),
                                  "/" + std::string(sizeof(sockaddr_un), 'x')}) {
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    NotifyServiceManager(kServiceReady);
  }
  EXPECT_EQ(Received(), "");
}

}  // namespace
}  // namespace callslip
