// The tracker's TLS port: certificates that change, and certificates that identify callers.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/error_details.h"
#include "gtest/gtest.h"
#include "tracker/rpc/tls_listener_fixture.h"

namespace callslip::tracker {
namespace {

// A wait that is held for a command's end, on a stream of either kind.
class HeldStream {
 public:
  HeldStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& command_id,
             bool watches)
      : stub_(v1::CommandService::NewStub(channel)) {
    context_.AddMetadata("authorization", "Bearer " + TokenOf("client"));
    if (watches) {
      watch_ = stub_->WatchCommands(&context_);
      v1::WatchCommandsRequest request;
      v1::CommandWatch& added = *request.add_add();
      added.set_watch_id(1);
      added.set_command_id(command_id);
      EXPECT_TRUE(watch_->Write(request));
    } else {
      v1::WaitForCommandRequest request;
      request.set_command_id(command_id);
      wait_ = stub_->WaitForCommand(&context_, request);
    }
    EXPECT_EQ(Next(), v1::COMMAND_STATE_QUEUED);
  }

  // The next state on the stream.
  v1::CommandState Next() {
    v1::WaitForCommandResponse told;
    v1::WatchCommandsResponse updates;
    if (wait_ != nullptr && wait_->Read(&told)) return told.command().state();
    if (watch_ != nullptr && watch_->Read(&updates)) return updates.updates(0).command().state();
    return v1::COMMAND_STATE_UNSPECIFIED;
  }

  // The final status of the stream.
  grpc::Status End() {
    if (wait_ != nullptr) return wait_->Finish();
    watch_->WritesDone();
    return watch_->Finish();
  }

 private:
  const std::unique_ptr<v1::CommandService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WaitForCommandResponse>> wait_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WatchCommandsRequest, v1::WatchCommandsResponse>>
      watch_;
};

TEST_F(TlsListenerTest, CertificateRotationDoesNotBreakHeldStreams) {
  constexpr int kStreams = 50;
  constexpr int kStreamsOfAConnection = 5;
  ServeTls(/*asks_for_certificates=*/false);
  tcp_ = Connect();
  const std::string id = Register("client");
  std::vector<std::unique_ptr<HeldStream>> held;
  std::shared_ptr<grpc::Channel> channel;
  for (int i = 0; i < kStreams; ++i) {
    if (i % kStreamsOfAConnection == 0) channel = Connect();
    held.push_back(std::make_unique<HeldStream>(channel, id, /*watches=*/i % 2 == 0));
  }
  std::atomic<bool> done{false};
  std::atomic<int> calls{0};
  std::atomic<int> broken{0};
  std::thread steady([&, kept = Connect()] {
    for (; !done; ++calls) broken += Ask(kept, "client").ok() ? 0 : 1;
  });

  for (int turn = 0; turn < 3; ++turn) {
    const TestAuthority::Pair next = authority_.Issue();
    Write(next);
    // New connections get the new certificate once the tracker has read it, and none is refused
    // meanwhile.
    std::string shown;
    while (shown != next.certificate) {
      const auto newcomer = PeerWith({});
      ASSERT_TRUE(newcomer->Shake());
      shown = newcomer->ServerCertificate();
    }
    EXPECT_OK(Ask(Connect(), "client"));
  }
  const int before = calls;
  while (calls == before) std::this_thread::yield();
  done = true;
  steady.join();
  EXPECT_EQ(broken, 0);
  EXPECT_GT(calls, 3);

  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("worker"));
  ASSERT_OK(Complete("worker", id, lease.lease_token(), "1"));
  for (const auto& stream : held) {
    v1::CommandState state = v1::COMMAND_STATE_QUEUED;
    while (state == v1::COMMAND_STATE_QUEUED || state == v1::COMMAND_STATE_DELIVERED ||
           state == v1::COMMAND_STATE_RUNNING) {
      state = stream->Next();
    }
    EXPECT_EQ(state, v1::COMMAND_STATE_COMPLETED);
    EXPECT_TRUE(stream->End().ok());
  }
}

TEST_F(TlsListenerTest, CertificateIdentifiesThePrincipalOfItsLine) {
  ServeTls(/*asks_for_certificates=*/true);
  const auto client = Connect("client.test");
  v1::RegisterCommandRequest registration;
  registration.set_type("execute_js");
  const auto registered =
      CallOver(client, &v1::CommandService::Stub::RegisterCommand, "", registration);
  ASSERT_OK(registered);
  const std::string id = registered->command().command_id();
  // A token of the same principal also finds the command; a token of another one does not.
  tcp_ = client;
  EXPECT_OK(Get("client", id));
  EXPECT_EQ(DetailsOf(Get("other", id).status()).reason, "unknown_command");
  // It has the role of its principal.
  v1::LeaseCommandsRequest lease;
  const auto leased = CallOver(client, &v1::CommandService::Stub::LeaseCommands, "", lease);
  EXPECT_EQ(DetailsOf(leased.status()).reason, "role_not_allowed");
  EXPECT_NE(leased.status().message().find("client has the role client"), std::string::npos)
      << leased.status();
  EXPECT_OK(CallOver(Connect("worker.test"), &v1::CommandService::Stub::LeaseCommands, "", lease));
}

TEST_F(TlsListenerTest, OnlyGatewayCertificateActsForOtherClients) {
  ServeTls(/*asks_for_certificates=*/true);
  v1::ListCommandsRequest request;
  request.set_client_id("mallory");
  const auto as = [&](const std::string& name) {
    return CallOver(Connect(name), &v1::CommandService::Stub::ListCommands, "", request).status();
  };
  EXPECT_EQ(DetailsOf(as("client.test")).reason, "not_your_client");
  EXPECT_OK(as("gateway.test"));
}

TEST_F(TlsListenerTest, RemovedLineEndsTheCallsOfItsCertificate) {
  ServeTls(/*asks_for_certificates=*/true);
  const auto worker = Connect("worker.test");
  const auto client = Connect("client.test");
  ASSERT_OK(Ask(client));
  grpc::ClientContext context;
  const auto held = v1::CommandService::NewStub(worker)->StreamCommands(&context, {});
  while (table_.waits() < 1) ASSERT_OK(Ask(client));

  std::vector<TokenFile::Entry> left = EntriesWithCertificates();
  std::erase_if(left, [](const auto& entry) { return entry.certificate == "worker.test"; });
  EXPECT_EQ(credentials_->Replace(left), 1);
  server_.CancelRevokedCalls();
  v1::StreamCommandsResponse message;
  EXPECT_FALSE(held->Read(&message));
  EXPECT_EQ(held->Finish().error_code(), grpc::StatusCode::CANCELLED);
  v1::LeaseCommandsRequest lease;
  EXPECT_EQ(
      DetailsOf(CallOver(worker, &v1::CommandService::Stub::LeaseCommands, "", lease).status())
          .reason,
      "certificate_unknown");
  EXPECT_OK(Ask(client));
}

TEST_F(TlsListenerTest, CertificateIsIgnoredWithoutAClientAuthority) {
  ServeTls(/*asks_for_certificates=*/false);
  EXPECT_EQ(DetailsOf(Ask(Connect("client.test"))).reason, "token_missing");
  EXPECT_OK(Ask(Connect("client.test"), "client"));
}

}  // namespace
}  // namespace callslip::tracker
