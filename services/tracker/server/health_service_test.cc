#include "tracker/server/health_service.h"

#include <memory>
#include <string>

#include "common/status_matchers.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class HealthServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.AddService(HealthService::kName);
    ASSERT_OK_AND_ASSIGN(const Address address, server_.Start(*ParseAddress("127.0.0.1:0"), 1));
    health_.ServeOn(server_);
    stub_ = Health::NewStub(
        grpc::CreateChannel(address.ToString(), grpc::InsecureChannelCredentials()));
  }

  static HealthCheckRequest RequestFor(const std::string& service) {
    HealthCheckRequest request;
    request.set_service(service);
    return request;
  }

  HealthCheckResponse::ServingStatus Check(const std::string& service) {
    grpc::ClientContext context;
    HealthCheckResponse response;
    EXPECT_TRUE(stub_->Check(&context, RequestFor(service), &response).ok());
    return response.status();
  }

  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> Watch(const std::string& service) {
    return stub_->Watch(&context_, RequestFor(service));
  }

  HealthService health_{{"callslip.Known"}};
  AsyncServer server_;
  std::unique_ptr<Health::Stub> stub_;
  // Of the one watch of each test.
  grpc::ClientContext context_;
};

TEST_F(HealthServiceTest, KnownServicesAndTheServerShareOneStatus) {
  EXPECT_EQ(Check(""), HealthCheckResponse::SERVING);
  EXPECT_EQ(Check("callslip.Known"), HealthCheckResponse::SERVING);
  health_.SetServing(false);
  EXPECT_EQ(Check(""), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Check("callslip.Known"), HealthCheckResponse::NOT_SERVING);
}

TEST_F(HealthServiceTest, CheckOfAnUnknownServiceFails) {
  grpc::ClientContext context;
  HealthCheckResponse response;
  EXPECT_EQ(stub_->Check(&context, RequestFor("callslip.Unknown"), &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(HealthServiceTest, WatchReportsTheStatusAndEachChange) {
  const auto watch = Watch("callslip.Known");
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  health_.SetServing(true);
  health_.SetServing(false);
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  health_.SetServing(true);
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
}

TEST_F(HealthServiceTest, WatchOfAnUnknownServiceStaysOpen) {
  const auto watch = Watch("callslip.Unknown");
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  health_.SetServing(false);
  health_.EndWatches();
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HealthServiceTest, WatchEndsAfterTheLastStatus) {
  const auto watch = Watch("");
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  health_.SetServing(false);
  health_.EndWatches();
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  // This would wait for ever if the watch were still open.
  server_.Stop(absl::InfiniteDuration());
}

TEST_F(HealthServiceTest, LateWatchGetsTheStatusAndEnds) {
  health_.SetServing(false);
  health_.EndWatches();
  const auto watch = Watch("");
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HealthServiceTest, WatchIsFreedWhenItsCallerLeaves) {
  const auto watch = Watch("");
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  context_.TryCancel();
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
  server_.Stop(absl::InfiniteDuration());
}

}  // namespace
}  // namespace callslip::tracker
