#include "bridge/relay/session_keeper.h"

#include <string>
#include <thread>

#include "bridge/relay/relay_test_fixture.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

// The gateway of these tests freezes when it is asked for a new session.
class SessionKeeperTest : public RelayTest {
 protected:
  static ResponseHead HeadOf(const std::string& session_id) {
    return {.status = 200, .content_type = "application/json", .session_id = session_id};
  }
};

TEST_F(SessionKeeperTest, WaitForRenewalByOtherCallIsAbortedAtOnce) {
  StartGateway(
      [](FakeGateway& gateway, const httplib::Request& request, httplib::Response& response) {
        gateway.Freeze();
        AnswerPlainly(request.body, response);
      });
  SessionKeeper keeper(client_.get());
  const Message initialize = ParseMessage(R"({"jsonrpc":"2.0","id":0,"method":"initialize"})");
  keeper.Start(initialize, HeadOf("lost"),
               ParseMessage(ResultFor("0", R"({"protocolVersion":"2025-11-25"})")));
  AbortSwitch first(clock());
  std::thread renewing([&] { keeper.Renew("lost", absl::Seconds(60), first); });
  gateway_->AwaitRequests(1);
  AbortSwitch second(clock());
  std::thread waiting([&] {
    EXPECT_EQ(keeper.Renew("lost", absl::Seconds(60), second), SessionKeeper::Renewal::kTryLater);
  });
  second.Abort();
  waiting.join();
  EXPECT_FALSE(second.sent());
  first.Abort();
  renewing.join();
}

}  // namespace
}  // namespace callslip::bridge
