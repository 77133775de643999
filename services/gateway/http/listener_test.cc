#include "gateway/http/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/local/stream_protocol.hpp"
#include "gateway/http/address_quota.h"
#include "gateway/http/http_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "support/waiting.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class ListenerTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Listener>> Open() {
    return Listener::Open(context_.get_executor(), {.unix_path = path_});
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/socket";
  asio::io_context context_{1};
};

TEST_F(ListenerTest, SocketIsPrivateToUserAndRemovedWithListener) {
  auto listener = Open();
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat found = {};
  ASSERT_EQ(stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  listener->reset();
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(ListenerTest, LiveSocketIsRefusedAndSocketOfSuccessorIsNotRemoved) {
  auto listener = Open();
  ASSERT_TRUE(listener.ok()) << listener.status();
  const auto second = Open();
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("another program listens at unix:"));
  ASSERT_EQ(unlink(path_.c_str()), 0);
  const auto successor = Open();
  ASSERT_TRUE(successor.ok()) << successor.status();
  listener->reset();
  EXPECT_EQ(access(path_.c_str(), F_OK), 0);
}

TEST_F(ListenerTest, StaleSocketIsReplaced) {
  const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path_.data(), path_.size());
  ASSERT_EQ(bind(dead, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  close(dead);
  EXPECT_TRUE(Open().ok());
}

TEST_F(ListenerTest, HttpIsServedOverSocketAndDisconnectIsNoticed) {
  Event left;
  HttpServer server(
      context_.get_executor(), HttpLimits{},
      Spawning([&](std::shared_ptr<HttpRequest> request) -> asio::awaitable<HttpResponse> {
        if (request->path == "/held") {
          try {
            co_await WaitForever();
          } catch (const boost::system::system_error&) {
            left.Tell();
            throw;
          }
        }
        co_return HttpResponse{.body = request->path};
      }));
  ASSERT_TRUE(server.Listen({.unix_path = path_}).ok());
  ASSERT_TRUE(server.Listen({.host = "127.0.0.1"}).ok());  // A second listener.
  std::thread thread([this] { context_.run(); });
  asio::local::stream_protocol::iostream peer(asio::local::stream_protocol::endpoint{path_});
  peer << "GET /plain HTTP/1.1\r\nHost: localhost\r\n\r\n" << std::flush;
  std::string head;
  for (char byte = 0; !absl::EndsWith(head, "/plain") && peer.get(byte);) head.push_back(byte);
  EXPECT_THAT(head, EndsWith("\r\n\r\n/plain"));
  peer << "GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n" << std::flush;
  peer.close();
  left.Await();
  context_.stop();
  thread.join();
}

TEST(AddressQuotaTest, EachAddressHasItsOwnQuota) {
  using asio::ip::make_address;
  AddressQuota quota(2);
  const auto take = [&](const char* address) {
    return quota.Take(AddressKey(asio::ip::tcp::endpoint(make_address(address), 1)));
  };
  const auto first = take("10.0.0.1");
  auto second = take("10.0.0.1");
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(take("10.0.0.1"), nullptr);
  EXPECT_EQ(take("::ffff:10.0.0.1"), nullptr);
  EXPECT_NE(take("10.0.0.2"), nullptr);
  second = nullptr;
  EXPECT_NE(take("10.0.0.1"), nullptr);
}

TEST(AddressKeyTest, KeyIsSameForEndpointAndText) {
  for (const char* address : {"10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "127.0.0.1", "::1"}) {
    const asio::ip::tcp::endpoint peer(asio::ip::make_address(address), 1);
    EXPECT_EQ(AddressKey(peer), AddressKeyOfText(address)) << address;
  }
  EXPECT_EQ(AddressKey(asio::local::stream_protocol::endpoint("/run/s")), "");
  EXPECT_EQ(AddressKeyOfText("unknown"), "unknown");
}

TEST(AddressKeyTest, LoopbackAddressesAreRecognized) {
  for (const char* address : {"127.0.0.1", "127.9.0.1", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(IsLoopbackKey(AddressKeyOfText(address))) << address;
  }
  for (const char* address : {"10.0.0.1", "2001:db8::1", "unknown", ""}) {
    EXPECT_FALSE(IsLoopbackKey(AddressKeyOfText(address))) << address;
  }
}

TEST(AddressQuotaTest, Ipv6NetworkCountsAsOneAddress) {
  AddressQuota quota(1);
  const auto take = [&](const char* address) {
    return quota.Take(AddressKey(asio::ip::tcp::endpoint(asio::ip::make_address(address), 1)));
  };
  const auto first = take("2001:db8:0:1::1");
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(take("2001:db8:0:1:ffff::2"), nullptr);
  EXPECT_NE(take("2001:db8:0:2::1"), nullptr);
}

}  // namespace
}  // namespace callslip::gateway
