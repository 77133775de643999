// A gateway whose callers have names, and a tracker that does not accept them from it: the gateway
// is not ready, gives advice, and becomes ready by itself.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "auth/credentials.h"
#include "common/fake_clock.h"
#include "common/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TokenFile FileWith(const std::vector<std::pair<Role, char>>& lines) {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  for (const auto& [role, token] : lines) {
    file.entries.push_back(
        {{absl::StrCat("the-", std::string(RoleName(role))), role}, std::string(32, token)});
  }
  return file;
}

class TrackerAccessTest : public testing::Test {
 protected:
  TrackerAccessTest() {
    InitLogging("test", "info");
    testing::internal::CaptureStderr();
  }
  ~TrackerAccessTest() override {
    gateway_ = nullptr;
    StopTracker();
    if (captures_) (void)testing::internal::GetCapturedStderr();
    InitLogging("test", "error");
  }

  // Over TCP, at the same port again. Without a file every caller is `local`.
  void StartTracker(const std::optional<TokenFile>& file) {
    tracker_ = std::make_unique<tracker::TrackerServer>(&clock_, &table_);
    if (file.has_value()) {
      tracker_tokens_ = std::make_shared<Credentials>(file->entries);
      tracker_->SetCredentials(tracker_tokens_);
    }
    const absl::StatusOr<Address> bound = tracker_->Start(tracker_address_, 1);
    ASSERT_TRUE(bound.ok()) << bound.status();
    tracker_address_ = *bound;
  }
  void StopTracker() {
    if (tracker_ != nullptr) tracker_->Drain(absl::ZeroDuration());
    tracker_ = nullptr;
  }

  void StartGateway(const std::optional<TokenFile>& file) {
    gateway::GatewayConfig config;
    config.listen = {{.host = "127.0.0.1", .port = 0}};
    config.tracker = {tracker_address_};
    gateway_ = std::make_unique<gateway::GatewayServer>(config, file);
    const auto bound = gateway_->Start();
    ASSERT_TRUE(bound.ok()) << bound.status();
    gateway_address_ = bound->front();
  }

  struct Readiness {
    int status = 0;
    json body;
  };
  Readiness Ask() {
    httplib::Client client(gateway_address_.host, gateway_address_.port);
    const httplib::Result result = client.Get("/readyz");
    if (!result) return {};
    return {result->status, json::parse(result->body)};
  }
  // Each request is a call to the tracker.
  void AwaitReady() {
    while (Ask().status != 200) {
    }
  }
  void ExpectRefused(const std::string& reason, const std::string& hint) {
    const Readiness readiness = Ask();
    EXPECT_EQ(readiness.status, 503);
    EXPECT_EQ(readiness.body["error"], "tracker_refuses_gateway");
    EXPECT_THAT(std::string(readiness.body["message"]), HasSubstr(reason));
    EXPECT_THAT(std::string(readiness.body["hint"]), HasSubstr(hint));
    EXPECT_THAT(std::string(readiness.body["hint"]), HasSubstr("--tracker unix:PATH"));
  }
  std::string TakeLog() {
    captures_ = false;
    return testing::internal::GetCapturedStderr();
  }

  bool captures_ = true;
  FakeClock clock_;
  tracker::CommandTable table_{tracker::CommandDeadlines{}};
  Address tracker_address_{.host = "127.0.0.1", .port = 0};
  std::shared_ptr<Credentials> tracker_tokens_;
  std::unique_ptr<tracker::TrackerServer> tracker_;
  std::unique_ptr<gateway::GatewayServer> gateway_;
  Address gateway_address_;
};

TEST_F(TrackerAccessTest, GatewayWithoutTokenIsRefusedByTrackerWithoutTokens) {
  StartTracker(std::nullopt);
  StartGateway(FileWith({{Role::kClient, 'a'}}));
  ExpectRefused("not_your_client", "start the tracker with --token-file");
  // The gateway's line is missing, on both sides.
  StopTracker();
  StartTracker(FileWith({{Role::kGateway, 'g'}}));
  ExpectRefused("token_missing", "give the gateway's --token-file a line of the role gateway");
  gateway_->Take(FileWith({{Role::kClient, 'a'}, {Role::kGateway, 'g'}}));
  AwaitReady();
  const std::string log = TakeLog();
  EXPECT_THAT(log, HasSubstr("the tracker refuses this gateway"));
  EXPECT_THAT(log, HasSubstr("not_your_client"));
  EXPECT_THAT(log, HasSubstr("the tracker lets this gateway in"));
}

TEST_F(TrackerAccessTest, GatewayWithTokenIsRefusedByTrackerWithoutTokens) {
  StartTracker(std::nullopt);
  const TokenFile file = FileWith({{Role::kClient, 'a'}, {Role::kGateway, 'g'}});
  StartGateway(file);
  ExpectRefused("token_unknown", "start the tracker with a --token-file");
  StopTracker();
  StartTracker(file);
  AwaitReady();
}

TEST_F(TrackerAccessTest, GatewayWithUnknownTokenIsRefused) {
  StartTracker(FileWith({{Role::kClient, 'a'}}));
  const TokenFile file = FileWith({{Role::kClient, 'a'}, {Role::kGateway, 'g'}});
  StartGateway(file);
  ExpectRefused("token_unknown", "the same line");
  tracker_tokens_->Replace(file.entries);
  AwaitReady();
}

TEST_F(TrackerAccessTest, GatewayWithTokenOfOtherRoleIsRefused) {
  const TokenFile file = FileWith({{Role::kGateway, 'g'}});
  for (const Role role : {Role::kClient, Role::kWorker, Role::kViewer, Role::kRunner}) {
    StartTracker(FileWith({{role, 'g'}}));
    StartGateway(file);
    ExpectRefused("", "same line of the role gateway");
    tracker_tokens_->Replace(file.entries);
    AwaitReady();
    gateway_ = nullptr;
    StopTracker();
  }
}

TEST_F(TrackerAccessTest, RefusalIsLoggedOnce) {
  StartTracker(std::nullopt);
  StartGateway(FileWith({{Role::kClient, 'a'}}));
  // The gateway's first check was sent before this request.
  ASSERT_EQ(Ask().status, 503);
  const std::string log = TakeLog();
  EXPECT_THAT(log, HasSubstr("the tracker refuses this gateway"));
  // Once, however many requests there are.
  EXPECT_EQ(log.find("the tracker refuses"), log.rfind("the tracker refuses"));
}

TEST_F(TrackerAccessTest, UnnamedCallersNeedNoTokens) {
  StartTracker(std::nullopt);
  StartGateway(std::nullopt);
  AwaitReady();
}

}  // namespace
}  // namespace callslip
