// Calls to a tracker whose connection breaks in the middle.
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/use_future.hpp"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/mutex.h"
#include "common/status_matchers.h"
#include "gateway/tracker_client/tracker_client.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;

// Takes commands, and answers the first `failures` of them as a connection does that breaks.
class UnheardTracker final : public v1::CommandService::Service {
 public:
  explicit UnheardTracker(int failures) : failures_(failures) {}

  grpc::Status RegisterCommand(grpc::ServerContext*, const v1::RegisterCommandRequest* request,
                               v1::RegisterCommandResponse* response) override {
    MutexLock lock(&mutex_);
    request_ids_.push_back(request->request_id());
    if (failures_-- > 0) return {grpc::StatusCode::UNAVAILABLE, "Socket closed"};
    response->mutable_command()->set_command_id("corr-1");
    return grpc::Status::OK;
  }

  std::vector<std::string> request_ids() {
    MutexLock lock(&mutex_);
    return request_ids_;
  }

 private:
  Mutex mutex_;
  int failures_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> request_ids_ ABSL_GUARDED_BY(mutex_);
};

class RepeatedCallTest : public testing::Test {
 protected:
  RepeatedCallTest() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_.ToString(), grpc::InsecureServerCredentials());
    builder.RegisterService(&tracker_);
    server_ = builder.BuildAndStart();
    client_ = ConnectToTracker({address_}, std::make_shared<CallQueue>(), io_.get_executor());
    thread_ = std::thread([this] { io_.run(); });
  }
  ~RepeatedCallTest() override {
    io_.stop();
    thread_.join();
    client_ = nullptr;
    server_->Shutdown();
  }

  absl::StatusOr<v1::RegisterCommandResponse> Register(const std::string& request_id) {
    v1::RegisterCommandRequest request;
    request.set_request_id(request_id);
    return boost::asio::co_spawn(io_, client_->Register(std::move(request)),
                                 boost::asio::use_future)
        .get();
  }

  const TemporaryFolder folder_;
  const Address address_{.unix_path = folder_.path() + "/tracker.sock"};
  UnheardTracker tracker_{1};
  std::unique_ptr<grpc::Server> server_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::unique_ptr<TrackerClient> client_;
  std::thread thread_;
};

TEST_F(RepeatedCallTest, WhatCarriesARequestIdIsHandedInAgain) {
  ASSERT_OK_AND_ASSIGN(const auto response, Register("r-1"));
  EXPECT_EQ(response.command().command_id(), "corr-1");
  EXPECT_THAT(tracker_.request_ids(), ElementsAre("r-1", "r-1"));
}

TEST_F(RepeatedCallTest, WhatCarriesNoneIsHandedInOnce) {
  EXPECT_THAT(Register(""), FailsWith(absl::StatusCode::kUnavailable, ""));
  EXPECT_THAT(tracker_.request_ids(), ElementsAre(""));
}

}  // namespace
}  // namespace callslip::gateway
