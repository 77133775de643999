// Calls whose requests never arrive whole, from a peer without gRPC, and the answers to their
// heads.
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "support/raw_connection.h"
#include "tracker/rpc/access_fixture.h"
#include "tracker/server/awaited_requests.h"
#include "tracker/server/rpc_access.h"

namespace callslip::tracker {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// A peer with as much of HTTP/2 as these calls need.
class UnfinishedCalls {
 public:
  explicit UnfinishedCalls(uint16_t port) : connection_(port) {
    connection_.Send(std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") +
                     Frame(kSettings, 0, 0, std::string()));
  }

  // Begins a call and sends only the beginning of its message, or none of it. Returns its stream.
  // All messages together have to fit into a connection's first window (64 KiB).
  int Begin(const std::string& method, const std::string& token = "", size_t message_bytes = 9) {
    const int stream = std::exchange(next_, next_ + 2);
    std::string head = Field(":method", "POST") + Field(":scheme", "http") +
                       Field(":path", method) + Field(":authority", "tracker") +
                       Field("content-type", "application/grpc") + Field("te", "trailers");
    if (!token.empty()) head += Field("authorization", absl::StrCat("Bearer ", token));
    connection_.Send(Frame(kHeaders, kEndOfHeaders, stream, head));
    if (message_bytes > 0) {
      Send(stream, std::string("\0\0\x10\0\0", 5) + std::string(message_bytes, 'x'));
    }
    return stream;
  }

  void Send(int stream, const std::string& data) {
    connection_.Send(Frame(kData, 0, stream, data));
  }

  // Waits for the end of the call. Returns the headers that the tracker has sent for it.
  std::string EndOf(int stream) {
    while (!ended_.contains(stream)) {
      const std::string head = connection_.Read(9);
      if (head.size() < 9) return "the connection has ended";
      const std::string payload = connection_.Read(Number(head, 0, 3));
      const int about = static_cast<int>(Number(head, 5, 4));
      if (head[3] == kHeaders) said_[about] += payload;
      const bool is_last = head[3] == kHeaders && (head[4] & kEndOfStream) != 0;
      if (is_last || head[3] == kReset) ended_[about] = said_[about];
      if (head[3] == kPing && (head[4] & kAcknowledged) == 0) {
        connection_.Send(Frame(kPing, kAcknowledged, 0, payload));
      }
    }
    return ended_[stream];
  }
  bool HasEnded(int stream) const { return ended_.contains(stream); }

 private:
  static constexpr char kData = 0;
  static constexpr char kHeaders = 1;
  static constexpr char kReset = 3;
  static constexpr char kSettings = 4;
  static constexpr char kPing = 6;
  static constexpr char kEndOfStream = 1;
  static constexpr char kAcknowledged = 1;
  static constexpr char kEndOfHeaders = 4;

  static std::string Bytes(uint32_t number, int count) {
    std::string bytes;
    for (int i = count - 1; i >= 0; --i) bytes += static_cast<char>(number >> (8 * i));
    return bytes;
  }
  static uint32_t Number(const std::string& bytes, size_t at, size_t count) {
    uint32_t number = 0;
    for (size_t i = at; i < at + count; ++i) {
      number = (number << 8) | static_cast<unsigned char>(bytes[i]);
    }
    return number;
  }
  static std::string Frame(char type, char flags, int stream, const std::string& payload) {
    return Bytes(static_cast<uint32_t>(payload.size()), 3) + type + flags +
           Bytes(static_cast<uint32_t>(stream), 4) + payload;
  }
  // HPACK's literal that is not indexed. Shorter than 127 bytes.
  static std::string Field(const std::string& name, const std::string& value) {
    return std::string(1, '\0') + static_cast<char>(name.size()) + name +
           static_cast<char>(value.size()) + value;
  }

  gateway::RawConnection connection_;
  int next_ = 1;
  std::map<int, std::string> said_;
  std::map<int, std::string> ended_;
};

class UnfinishedRequestsTest : public AccessTest {
 protected:
  UnfinishedRequestsTest() {
    UseTokens();
    // On one queue, so that it is certain which calls wait with which.
    Serve(std::nullopt, /*pollers=*/1);
  }

  static const MethodDescriptor& HealthCheck() {
    return *google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
        "grpc.health.v1.Health.Check");
  }

  const Caller kNobody{.column = "nobody", .name = "stranger", .token = ""};
};

TEST_F(UnfinishedRequestsTest, StrangersAreRefusedByTheHeadersOfAllCalls) {
  UnfinishedCalls stranger(bound_[0].port);
  int refused = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    const std::string path = absl::StrCat("/", method->service()->full_name(), "/", method->name());
    if (AccessOf(*method)->kind == RpcAccess::Kind::kOpen) continue;
    ++refused;
    EXPECT_THAT(stranger.EndOf(stranger.Begin(path)), HasSubstr("carries no token")) << path;
    EXPECT_THAT(stranger.EndOf(stranger.Begin(path, TokenOf("unknown"))),
                HasSubstr("does not know this token"))
        << path;
  }
  EXPECT_GT(refused, 50);
}

TEST_F(UnfinishedRequestsTest, RoleThatIsNotAllowedIsRefusedByTheHeaders) {
  UnfinishedCalls viewer(bound_[0].port);
  EXPECT_THAT(viewer.EndOf(viewer.Begin("/callslip.tracker.v1.CommandService/RegisterCommand",
                                        TokenOf("viewer"))),
              HasSubstr("role viewer"));
}

TEST_F(UnfinishedRequestsTest, OpenMethodsHoldFewUnfinishedCallsOfStrangers) {
  UnfinishedCalls stranger(bound_[0].port);
  const std::string check = "/grpc.health.v1.Health/Check";
  // More than a burst may have.
  const int most = static_cast<int>(internal::AwaitedRequests::kStrangersInBurst);
  const int count = 2 * most;
  for (int i = 0; i < count; ++i) stranger.Begin(check);
  // The newest of the calls that are refused: once it has ended, all have arrived.
  stranger.EndOf(2 * (count - most) - 1);
  // Other callers do not notice.
  for (int i = 0; i < 20; ++i) EXPECT_OK(Outcome(HealthCheck(), kNobody));
  // Calls that have waited for some time make room for new ones, until fewer remain.
  clock_.Advance(2 * internal::AwaitedRequests::kBurst);
  EXPECT_OK(Outcome(HealthCheck(), kNobody));
  stranger.EndOf(2 * count - 2 * static_cast<int>(internal::AwaitedRequests::kStrangers) - 1);
}

TEST_F(UnfinishedRequestsTest, CallsOfStrangersWithinTheBurstLimitAreHeld) {
  UnfinishedCalls stranger(bound_[0].port);
  const int count = static_cast<int>(internal::AwaitedRequests::kStrangersInBurst) / 2;
  for (int i = 0; i < count; ++i) stranger.Begin("/grpc.health.v1.Health/Check");
  EXPECT_THAT(stranger.EndOf(stranger.Begin("/callslip.tracker.v1.CommandService/GetCommand")),
              HasSubstr("carries no token"));
  for (int i = 0; i < count; ++i) EXPECT_FALSE(stranger.HasEnded(2 * i + 1));
  // A caller with a token is not a stranger.
  UnfinishedCalls client(bound_[0].port);
  for (int i = 0; i < 4 * count; ++i) {
    client.Begin("/grpc.health.v1.Health/Check", TokenOf("client"));
  }
  EXPECT_THAT(client.EndOf(client.Begin("/callslip.tracker.v1.CommandService/GetCommand")),
              HasSubstr("carries no token"));
  EXPECT_FALSE(client.HasEnded(1));
}

TEST_F(UnfinishedRequestsTest, TokenRevokedBeforeTheRequestArrivesIsRefused) {
  UnfinishedCalls client(bound_[0].port);
  for (const char* method : {"RegisterCommand", "WaitForCommand"}) {
    const int begun = client.Begin(absl::StrCat("/callslip.tracker.v1.CommandService/", method),
                                   TokenOf("client"), /*message_bytes=*/0);
    // The call has arrived before this one is answered.
    client.EndOf(client.Begin("/callslip.tracker.v1.CommandService/GetCommand"));
    credentials_->Replace({});
    client.Send(begun, std::string(5, '\0'));
    // A call that lasts may be cancelled before its token is checked.
    EXPECT_THAT(client.EndOf(begun),
                AnyOf(HasSubstr("does not know this token"), HasSubstr("Cancelled")))
        << method;
    credentials_->Replace(Entries());
  }
}

// Even if there are no other calls.
TEST_F(UnfinishedRequestsTest, UnfinishedRequestEndsAtItsMaxAge) {
  UnfinishedCalls client(bound_[0].port);
  const std::string path = "/callslip.tracker.v1.CommandService/RegisterCommand";
  const int slow = client.Begin(path, TokenOf("client"));
  EXPECT_THAT(client.EndOf(client.Begin(path)), HasSubstr("carries no token"));
  EXPECT_FALSE(client.HasEnded(slow));
  clock_.Advance(internal::AwaitedRequests::kMaxAge);
  client.EndOf(slow);
  EXPECT_TRUE(client.HasEnded(slow));
}

TEST_F(UnfinishedRequestsTest, UnfinishedRequestOfAStrangerEndsSooner) {
  UnfinishedCalls stranger(bound_[0].port);
  const std::string check = "/grpc.health.v1.Health/Check";
  // Once this call is answered, the calls before it have begun.
  const auto await_begun = [&] {
    const int whole = stranger.Begin(check, "", /*message_bytes=*/0);
    stranger.Send(whole, std::string(5, '\0'));
    stranger.EndOf(whole);
  };
  const int known = stranger.Begin(check, TokenOf("client"));
  const int first = stranger.Begin(check);
  await_begun();
  clock_.Advance(absl::Seconds(1));
  const int second = stranger.Begin(check);
  await_begun();
  clock_.Advance(internal::AwaitedRequests::kMaxAgeUnauthenticated - absl::Seconds(1));
  stranger.EndOf(first);
  EXPECT_FALSE(stranger.HasEnded(second));
  clock_.Advance(absl::Seconds(1));
  stranger.EndOf(second);
  EXPECT_FALSE(stranger.HasEnded(known));
}

}  // namespace
}  // namespace callslip::tracker
