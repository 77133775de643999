#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bridge/http/mcp_headers.h"
#include "bridge/relay/limits.h"
#include "bridge/relay/relay_test_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;

constexpr char kMeta[] = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})";

TEST(EncodeHeaderValueTest, EncodesOnlyValuesUnsuitableForHeaders) {
  for (const char* plain : {"", "interact", "callslip://result/corr-1", "a b", "=?base64?"}) {
    EXPECT_EQ(EncodeHeaderValue(plain), plain);
  }
  EXPECT_EQ(EncodeHeaderValue("\xC3\xA4"), "=?base64?w6Q=?=");
  EXPECT_EQ(EncodeHeaderValue("a\r\nb"), "=?base64?YQ0KYg==?=");
  EXPECT_EQ(EncodeHeaderValue(" a"), "=?base64?IGE=?=");
  EXPECT_EQ(EncodeHeaderValue("a "), "=?base64?YSA=?=");
  EXPECT_EQ(EncodeHeaderValue("=?base64?YQ==?="), "=?base64?PT9iYXNlNjQ/WVE9PT89?=");
}

// The gateway answers all requests at once, except two: it holds a `tools/call`, and it answers a
// `subscriptions/listen` with one event and then nothing.
class RelayModernTest : public RelayTest {
 protected:
  void SetUp() override {
    StartGateway(
        [this](FakeGateway& gateway, const httplib::Request& request, httplib::Response& response) {
          if (absl::StrContains(request.body, "tools/call")) gateway.Freeze();
          if (!absl::StrContains(request.body, "subscriptions/listen")) {
            return AnswerPlainly(request.body, response);
          }
          response.set_chunked_content_provider(
              "text/event-stream", [&gateway, this](size_t offset, httplib::DataSink& sink) {
                if (offset == 0) return sink.write(event_.data(), event_.size());
                gateway.Freeze();
                return false;
              });
        });
  }

  void Listen(const std::string& id) {
    Call(id, "subscriptions/listen", absl::StrCat("{", kMeta, "}"));
    EXPECT_EQ(ReadLine(), kEvent);
  }

  static constexpr char kEvent[] = R"({"jsonrpc":"2.0","method":"acknowledged"})";
  const std::string event_ = absl::StrCat("data: ", kEvent, "\n\n");
};

TEST_F(RelayModernTest, MessagesCarryModernHeadersAndNoSession) {
  Call("0", "initialize");
  Read();
  Call("1", "resources/read", absl::StrCat(R"({"uri":"x://\u00e4",)", kMeta, "}"));
  EXPECT_EQ(ReadLine(), ResultFor("1", R"({"method":"resources/read"})"));
  const httplib::Request request = gateway_->requests().at(1);
  EXPECT_EQ(request.get_header_value("MCP-Protocol-Version"), "2026-07-28");
  EXPECT_EQ(request.get_header_value("Mcp-Method"), "resources/read");
  EXPECT_EQ(request.get_header_value("Mcp-Name"), "=?base64?eDovL8Ok?=");
  EXPECT_FALSE(request.has_header("Mcp-Session-Id"));
}

TEST_F(RelayModernTest, CancelClosesConnectionAndIsNotForwarded) {
  Call("1", "tools/call", absl::StrCat(R"({"name":"observe",)", kMeta, "}"));
  gateway_->AwaitRequests(1);
  CancelCall("1");
  fake_clock_.Advance(absl::Minutes(2));
  gateway_->Release();
  ExpectSilenceUntilPing();
  EXPECT_EQ(gateway_->requests().size(), 2u);
}

TEST_F(RelayModernTest, StreamHasNoDeadlineOnceStarted) {
  Listen("1");
  fake_clock_.Advance(absl::Hours(1));
  ExpectSilenceUntilPing();
  CancelCall("1");
  gateway_->Release();
  ExpectSilenceUntilPing();
  EXPECT_EQ(gateway_->requests().size(), 3u);
}

TEST_F(RelayModernTest, BrokenStreamEndsInOneError) {
  Listen("1");
  gateway_->Release();
  const auto answer = Read();
  EXPECT_EQ(answer["id"], 1);
  EXPECT_EQ(answer["error"]["code"], kConnectionError);
  EXPECT_EQ(answer["error"]["data"]["reason"], "subscription_lost");
  ExpectSilenceUntilPing();
}

TEST_F(RelayModernTest, StreamsLeaveRoomForCalls) {
  for (int i = 0; i < kMaxOpenStreams; ++i) Listen(absl::StrCat(i));
  Call("99", "subscriptions/listen", absl::StrCat("{", kMeta, "}"));
  EXPECT_EQ(Read()["error"]["data"]["reason"], "too_many_calls");
  ExpectSilenceUntilPing();
  CancelCall("0");
  Listen("100");
}

TEST_F(RelayTest, DiscoverWithoutGatewayGetsUnsupportedVersionError) {
  Connect(UnusedPort());
  Call("1", "server/discover", absl::StrCat("{", kMeta, "}"));
  fake_clock_.Advance(absl::Seconds(9));
  const auto error = Read()["error"];
  EXPECT_EQ(error["code"], kUnsupportedVersion);
  EXPECT_EQ(error["data"]["supported"][0], "2026-07-28");
  EXPECT_EQ(error["data"]["requested"], "2026-07-28");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("./dev up"));
}

}  // namespace
}  // namespace callslip::bridge
